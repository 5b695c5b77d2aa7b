"""What does a driver gain that maps a fragment once, or a whole umem, instead of each buffer?

A mapping costs an I/O address, page-table entries and, where the IOMMU is strict, a wait for its
IOTLB; a fragment of 32 KiB holds 21 buffers. So nearly all of that should go, more where it is
strict. A queue that never maps can also take an AF_XDP application's memory: then neither side of
the guest copies, and the vhost worker, which does, should become the bound both ways.
"""

from collections.abc import Iterable
from pathlib import Path

from vringlab import Calibration, Comparison, Prediction, Result, Scenario, compare, run_many
from vringlab.experiments.figures import draw_waterfall
from vringlab.experiments.premapped import explore, figures, fragments, sockets
from vringlab.experiments.premapped.answers import find
from vringlab.experiments.premapped.base import SEED, Run
from vringlab.experiments.premapped.report import report
from vringlab.experiments.vmap.tables import waterfall_rows, write_posterior
from vringlab.published import load_published
from vringlab.results import write_table
from vringlab.validation import write_rows

__all__ = ["SEED", "main"]

WATERFALL = ("what", "core", "step", "cost", "before_ns", "after_ns", "difference_ns")


def main(folder: Path, check: bool) -> None:
    """Writes the tables, figures and the report of results/premapped."""
    answered = find(load_published())
    mapping_fit, socket_fit = answered.mapping_fit, answered.socket_fit
    found, rows = answered.received, answered.rows
    on_sockets = _at(socket_fit)
    merged = {mode: _fall(found, mode) for mode in ("lazy", "strict")}
    zero_copy = sockets.socket_falls(on_sockets)
    variants = sockets.host_variants(on_sockets)
    published = {row.published.id: row.published.value for row in rows}
    smaller = fragments.fragment_variants(published, _at(mapping_fit))
    mappings = explore.mappings(_at(mapping_fit))
    queues = explore.shared_queues(_at(mapping_fit))
    loads = explore.loads(on_sockets)

    write_rows(folder / "table.csv", rows)
    write_posterior(folder / "posterior.csv", mapping_fit)
    write_posterior(folder / "posterior_afxdp.csv", socket_fit)
    falls = (merged | zero_copy).items()
    write_table(
        folder / "waterfall.csv",
        WATERFALL,
        ((what, c.core, *row) for what, c in falls for row in waterfall_rows(c)),
    )
    sockets.write_variants(folder / "hosts.csv", variants)
    fragments.write_fragments(folder / "fragments.csv", smaller)
    explore.write_mappings(folder / "mappings.csv", mappings)
    explore.write_queues(folder / "queues.csv", queues)
    explore.write_loads(folder / "loads.csv", loads)
    titles = {"before": "a mapping a buffer", "after": "a mapping a fragment"}
    draw_waterfall(folder / "merged", merged, title="A packet received behind an IOMMU", **titles)
    titles = {"before": "UDP socket", "after": "AF_XDP"}
    draw_waterfall(folder / "zero_copy", zero_copy, title="A packet in the guest", **titles)
    figures.draw_mappings(folder / "mappings", mappings)
    figures.draw_queues(folder / "queues", queues)
    figures.draw_loads(folder / "loads", loads)
    text = report(rows, smaller, variants, mappings, queues, loads)
    (folder / "report.md").write_text(text, encoding="utf-8", newline="\n")
    assert all(c.gain_percent > 0 for c in merged.values()), "fewer mappings are faster"


def _at(fit: Calibration) -> Run:
    def run(scenarios: Iterable[Scenario]) -> list[Result]:
        return run_many(fit.apply(scenario) for scenario in scenarios)

    return run


def _fall(found: dict[str, Prediction], mode: str) -> Comparison:
    before, after = (found[f"dmamerge.{mode}.{when}"].result for when in ("before", "after"))
    return compare(before, after, core="guest")
