"""The tables beside table.csv."""

from collections.abc import Iterable, Mapping
from pathlib import Path

from vringlab import COSTS, STEPS, Calibration, Comparison, Gain
from vringlab.results import write_table

WATERFALL = ("host", "kernel", "step", "cost", "user_ns", "mapped_ns", "difference_ns")
POSTERIOR = ("parameter", "low", "best", "high", "fitted", "posterior_5", "posterior_95")
USED_ELEMENT = ("batch", "gain_percent", "low", "high")


def write_waterfall(path: Path, comparisons: Mapping[str, Comparison]) -> None:
    """Worker time a packet by step and cost, in the order of a packet's life."""
    rows = []
    for comparison in comparisons.values():
        place = (comparison.a.scenario.host, comparison.a.scenario.kernel)
        rows += [(*place, *row) for row in waterfall_rows(comparison)]
    write_table(path, WATERFALL, rows)


def waterfall_rows(comparison: Comparison) -> Iterable[tuple[object, ...]]:
    """Step, cost, ns a packet before and after and the difference, in a packet's order."""
    for row in sorted(comparison.rows, key=lambda r: _place(r.step, r.cost)):
        times = (float(ps / 1000) for ps in (row.a_ps, row.b_ps, row.delta_ps))
        yield (row.step, row.cost, *times)


def write_posterior(path: Path, fit: Calibration) -> None:
    """What each fitted cost row was before the data and is after them."""
    shrinkage = fit.shrinkage
    rows = [
        (p.name, p.low, p.best, p.high, value, *fit.posterior_range(p.name), shrinkage[p.name])
        for p, value in zip(fit.priors, fit.values, strict=True)
    ]
    write_table(path, (*POSTERIOR, "shrinkage"), rows)


def write_used_element(path: Path, gains: Mapping[int, Gain]) -> None:
    """What a block for the used element gains over two words, by batch of used elements."""
    rows = [(batch, g.percent, g.low, g.high) for batch, g in gains.items()]
    write_table(path, USED_ELEMENT, rows)


def _place(step: str, cost: str) -> tuple[int, int]:
    return STEPS.index(step), COSTS.index(cost)
