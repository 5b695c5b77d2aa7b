"""What does handing up to 64 XDP buffers at once to the socket gain, over one packet a call?

A call into the socket costs the same for one frame as for 64. So time a packet should go as a + b
over the batch, on transmit and on receive alike, and what a batch gains should shrink with what the
sink and the copy of a larger frame cost. It does not pay where those have all the time, and where
the buffers of a batch no longer fit the caches.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path

from vringlab import Calibration, Prediction, Result, Scenario, compare, predict, run_many
from vringlab.experiments.vmap.fit import MEASUREMENT_SIGMA
from vringlab.experiments.vmap.tables import waterfall_rows
from vringlab.experiments.xdp_batch import caches, figures, latency, sizes, sweep
from vringlab.experiments.xdp_batch.base import GAINS, SEED, SWEEP_RATES, SWEEP_SIGMA
from vringlab.experiments.xdp_batch.fit import calibration_points, committed_fit
from vringlab.experiments.xdp_batch.report import report
from vringlab.published import load_published
from vringlab.results import write_table
from vringlab.validation import Row, gain_row, rate_row, write_rows

SOURCES = ("xdp-batch-2018", "vhost-batch-sweep-2020")
OPEN = "netperf."  # rows of TCP streams, which have no scenario yet
WATERFALL = ("sink", "step", "cost", "alone_ns", "batched_ns", "difference_ns")
EXPLORATIONS = {"sizes": sizes, "caches": caches, "latency": latency}


def main(folder: Path, check: bool) -> None:
    """Writes the tables and figures of results/xdp_batch."""
    published = {row.id: row for row in load_published() if row.source in SOURCES}
    fit = committed_fit(calibration_points(load_published()))
    rates = predicted(SWEEP_RATES.values(), fit, SWEEP_SIGMA)
    pairs = predicted((s for pair in GAINS.values() for s in pair), fit, MEASUREMENT_SIGMA)
    answered: dict[str, Row] = {
        **{name: rate_row(published[name], rates[s]) for name, s in SWEEP_RATES.items()},
        **{n: gain_row(published[n], pairs[b].gain_over(pairs[a])) for n, (a, b) in GAINS.items()},
    }
    asked = [name for name in published if not name.startswith(OPEN)]
    assert set(asked) == set(answered), "each published row has a scenario"
    rows = [answered[name] for name in asked]
    curves = sweep.curves(rows)
    saved = {b.sink: compare(pairs[a].result, pairs[b].result) for a, b in GAINS.values()}

    write_rows(folder / "table.csv", rows)
    sweep.write_sweep(folder / "sweep.csv", curves)
    sweep.write_fits(folder / "fit_a_b.csv", curves)
    falls = ((sink, *row) for sink, c in saved.items() for row in waterfall_rows(c))
    write_table(folder / "waterfall.csv", WATERFALL, falls)
    figures.draw_sweep(folder / "sweep", curves)
    figures.draw_batching(folder / "waterfall", saved)
    text = report(rows, curves, explored(folder, fit))
    (folder / "report.md").write_text(text, encoding="utf-8", newline="\n")
    assert all(c.gain_percent > 0 for c in saved.values()), "a batch is faster"


def predicted(
    scenarios: Iterable[Scenario], fit: Calibration, sigma: float
) -> Mapping[Scenario, Prediction]:
    asked = list(scenarios)
    return dict(zip(asked, predict(asked, fit, seed=SEED, measurement_sigma=sigma), strict=True))


def explored(folder: Path, fit: Calibration) -> dict[str, tuple[str, str]]:
    """Writes a table and a figure an exploration; returns title and answer."""

    def run(scenarios: Iterable[Scenario]) -> list[Result]:
        return run_many(fit.apply(scenario) for scenario in scenarios)

    answers = {}
    for name, module in EXPLORATIONS.items():
        cells = module.table(run)
        write_table(folder / f"{name}.csv", module.COLUMNS, cells)
        rows = [dict(zip(module.COLUMNS, row, strict=True)) for row in cells]
        figures.DRAWN[name](folder / name, rows)
        answers[name] = (module.TITLE, module.answer(rows))
    return answers
