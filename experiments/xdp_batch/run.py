"""What does handing up to 64 XDP buffers at once to the socket gain, over one packet a call?

A call into the socket costs the same for one frame as for 64. So time a packet should go as a + b
over the batch, on transmit and on receive alike, and what a batch gains should shrink with what the
sink and the copy of a larger frame cost. It does not pay where those have all the time, and where
the buffers of a batch no longer fit the caches. TCP streams gain where vhost bounds them and their
packets fit a page.
"""

from collections.abc import Iterable
from pathlib import Path

from vringlab import Result, Scenario, compare, run_many
from vringlab.experiments.vmap.tables import waterfall_rows
from vringlab.experiments.xdp_batch import figures, netperf, netperf_tables, sweep
from vringlab.experiments.xdp_batch.answers import find
from vringlab.experiments.xdp_batch.base import GAINS, SEED
from vringlab.experiments.xdp_batch.explorations import explored
from vringlab.experiments.xdp_batch.report import report
from vringlab.published import load_published
from vringlab.results import write_table
from vringlab.validation import write_rows

__all__ = ["SEED", "main"]

WATERFALL = ("sink", "step", "cost", "alone_ns", "batched_ns", "difference_ns")


def main(folder: Path, check: bool) -> None:
    """Writes the tables and figures of results/xdp_batch."""
    found = find(load_published())
    fit, rows, pairs, streams = found.fit, found.rows, found.pairs, found.streams
    curves = sweep.curves(rows)
    saved = {b.sink: compare(pairs[a].result, pairs[b].result) for a, b in GAINS.values()}

    def run(scenarios: Iterable[Scenario]) -> list[Result]:
        return run_many(fit.apply(scenario) for scenario in scenarios)

    answers = netperf.answers((row.published for row in rows), streams)
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
