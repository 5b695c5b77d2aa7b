"""What all claims share: the scenario they change, the runs, and how a gain is counted."""

from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from typing import Any

from vringlab import AccessPlan, Calibration, LedgerRow, Result, Scenario, run_many

PACKETS = 20_000
USER = AccessPlan.user()
VMAP = AccessPlan.vmap()


def scenario(**changes: Any) -> Scenario:
    """64-byte frames into a TAP that drops, with the costs that experiments/vmap has fitted."""
    return _calibration().apply(Scenario(**{"packets": PACKETS, **changes}))


@cache
def _calibration() -> Calibration:
    fit = files("vringlab") / "experiments" / "vmap" / "fit.json"
    return Calibration.from_json(fit.read_text(encoding="utf-8"))


class Runs:
    """Results by scenario; each scenario runs once."""

    def __init__(self) -> None:
        self._known: dict[Scenario, Result] = {}

    def __call__(self, scenarios: Iterable[Scenario]) -> list[Result]:
        wanted = list(scenarios)
        new = [s for s in dict.fromkeys(wanted) if s not in self._known]
        self._known.update(zip(new, run_many(new), strict=True))
        return [self._known[s] for s in wanted]


def gain_percent(before: Result, after: Result) -> float:
    """In packets a second."""
    return 100 * (after.rate_pps / before.rate_pps - 1)


def busy_ns(result: Result, core: str = "worker", **where: str) -> float:
    """Busy nanoseconds a packet of the ledger's rows with this step or cost."""
    return sum(row.ps for row in _rows(result, core, where)) / 1000 / result.packets


def count(result: Result, core: str = "worker", **where: str) -> int:
    """Occurrences, over the run."""
    return sum(row.count for row in _rows(result, core, where))


def _rows(result: Result, core: str, where: dict[str, str]) -> list[LedgerRow]:
    ledger = result.core(core).ledger
    return [row for row in ledger if all(getattr(row, k) == v for k, v in where.items())]
