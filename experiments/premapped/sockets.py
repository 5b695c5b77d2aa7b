"""The published rows of AF_XDP and of UDP sockets beside it, and what another host would do."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from vringlab import Calibration, Comparison, Prediction, Result, compare, predicted, sample
from vringlab.experiments.premapped.base import (
    SEED,
    SIGMA,
    SOCKETS,
    Run,
    bound_by,
    columns_of,
)
from vringlab.published import Published
from vringlab.results import write_table
from vringlab.validation import Row, rate_row, utilisation_row

HOSTS = {
    "as predicted": {},
    "each used element published at once": {"batch": 1},
    "each frame sent at once too": {"batch": 1, "tx_batching": False},
    "no event index": {"event_idx": False},
}
"""Kernels that the published host may have had; which one it had was not published."""
COLUMNS = ("host", "row", "pps", "vhost_cpu", "app_cpu", "softirq_cpu")


def socket_rows(
    published: Mapping[str, Published], fit: Calibration, draws: int | None = None
) -> list[Row]:
    """Rates and processor columns, in the published order."""
    runs = dict(zip(SOCKETS, sample(SOCKETS.values(), fit, draws=draws, seed=SEED), strict=True))
    found = predicted(SOCKETS.values(), runs.values(), seed=SEED, measurement_sigma=SIGMA)
    rates = dict(zip(SOCKETS, found, strict=True))
    return [_row(row, rates, runs) for row in published.values() if _name(row) in SOCKETS]


def _name(row: Published) -> str:
    return row.id.rpartition(".")[0]


def _row(
    row: Published, rates: Mapping[str, Prediction], runs: Mapping[str, Sequence[Result]]
) -> Row:
    name, _, column = row.id.rpartition(".")
    if column == "rate":
        return rate_row(row, rates[name], bound_by(name))
    core = getattr(columns_of(name), column)
    return utilisation_row(row, runs[name], core, seed=SEED, measurement_sigma=SIGMA)


def socket_falls(run: Run) -> dict[str, Comparison]:
    """What a packet costs the guest by a UDP socket and by AF_XDP, by what is compared."""
    results = dict(zip(SOCKETS, run(SOCKETS.values()), strict=True))
    return {
        f"{title}, {core}": compare(
            results[f"afxdp.{way}.sockperf"], results[f"afxdp.{way}.xsk"], core=core
        )
        for title, way, core in (
            ("sent", "xmit", "guest"),
            ("received", "recv", "guest"),
            ("received", "recv", "app"),
        )
    }


def host_variants(run: Run) -> list[tuple[object, ...]]:
    """The same rows on hosts of other kernels, with the same fitted costs."""
    asked = [(h, n, s.replace(**HOSTS[h])) for h in HOSTS for n, s in SOCKETS.items()]
    results = run(scenario for _, _, scenario in asked)
    return [(h, n, *_figures(n, r)) for (h, n, _), r in zip(asked, results, strict=True)]


def _figures(name: str, result: Result) -> Iterable[float | None]:
    yield result.rate_pps
    columns = columns_of(name)
    for column, core in columns._asdict().items():
        own = column != "softirq_cpu" or core != columns.app_cpu
        yield 100 * result.busy_share(core) if own else None


def write_variants(path: Path, rows: Iterable[Sequence[object]]) -> None:
    """Utilisations in percent; empty where a host has no such core."""
    write_table(path, COLUMNS, rows)
