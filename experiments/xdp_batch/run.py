"""What does handing up to 64 XDP buffers at once to the socket gain, over one packet a call?

A call into the socket costs the same for one frame as for 64. So time a packet should go as a + b
over the batch, on transmit and on receive alike, and what a batch gains should shrink with what the
sink and the copy of a larger frame cost. It does not pay where those have all the time, and where
the buffers of a batch no longer fit the caches. TCP streams gain where vhost bounds them and their
packets fit a page.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path

from vringlab import Calibration, Prediction, Result, Scenario, compare, predict, run_many
from vringlab.experiments.vmap.fit import MEASUREMENT_SIGMA
from vringlab.experiments.vmap.tables import waterfall_rows
from vringlab.experiments.xdp_batch import figures, netperf, netperf_tables, sweep
from vringlab.experiments.xdp_batch.base import GAINS, SEED, SWEEP_RATES, SWEEP_SIGMA
from vringlab.experiments.xdp_batch.explorations import explored
from vringlab.experiments.xdp_batch.fit import calibration_points, committed_fit
from vringlab.experiments.xdp_batch.report import report
from vringlab.published import load_published
from vringlab.results import write_table
from vringlab.validation import Row, gain_row, rate_row, write_rows

SOURCES = ("xdp-batch-2018", "vhost-batch-sweep-2020")
WATERFALL = ("sink", "step", "cost", "alone_ns", "batched_ns", "difference_ns")


def main(folder: Path, check: bool) -> None:
    """Writes the tables and figures of results/xdp_batch."""
    published = {row.id: row for row in load_published() if row.source in SOURCES}
    fit = committed_fit(calibration_points(load_published()))
    rates = predicted(SWEEP_RATES.values(), fit, SWEEP_SIGMA)
    pairs = predicted((s for pair in GAINS.values() for s in pair), fit, MEASUREMENT_SIGMA)
    streams = netperf.cells(fit)
    answered: dict[str, Row] = {
        **{name: rate_row(published[name], rates[s]) for name, s in SWEEP_RATES.items()},
        **{n: gain_row(published[n], pairs[b].gain_over(pairs[a])) for n, (a, b) in GAINS.items()},
        **{
            name: gain_row(row, netperf.gain_of(row, streams))
            for name, row in published.items()
            if name.startswith(netperf.ROWS)
        },
    }
    assert set(published) == set(answered), "each published row has a scenario"
    rows = [answered[name] for name in published]
    curves = sweep.curves(rows)
    saved = {b.sink: compare(pairs[a].result, pairs[b].result) for a, b in GAINS.values()}

    def run(scenarios: Iterable[Scenario]) -> list[Result]:
        return run_many(fit.apply(scenario) for scenario in scenarios)

    answers = netperf.answers(published.values(), streams)
    buffers = netperf_tables.scores(run, answers)

    write_rows(folder / "table.csv", rows)
    sweep.write_sweep(folder / "sweep.csv", curves)
    sweep.write_fits(folder / "fit_a_b.csv", curves)
    falls = ((sink, *row) for sink, c in saved.items() for row in waterfall_rows(c))
    write_table(folder / "waterfall.csv", WATERFALL, falls)
    netperf_tables.write_cells(folder / "netperf.csv", answers)
    netperf_tables.write_regimes(folder / "regimes.csv", streams)
    netperf_tables.write_buffers(folder / "send_buffers.csv", buffers)
    figures.draw_sweep(folder / "sweep", curves)
    figures.draw_batching(folder / "waterfall", saved)
    figures.draw_netperf(folder / "netperf", answers)
    text = report(rows, curves, answers, buffers, explored(folder, run))
    (folder / "report.md").write_text(text, encoding="utf-8", newline="\n")
    assert all(c.gain_percent > 0 for c in saved.values()), "a batch is faster"


def predicted(
    scenarios: Iterable[Scenario], fit: Calibration, sigma: float
) -> Mapping[Scenario, Prediction]:
    asked = list(scenarios)
    return dict(zip(asked, predict(asked, fit, seed=SEED, measurement_sigma=sigma), strict=True))
