"""What does a driver gain that maps a fragment once, instead of each receive buffer cut from it?

A mapping costs an I/O address, page-table entries and, where the IOMMU is strict, a wait for its
IOTLB; a fragment of 32 KiB holds 21 buffers. So nearly all of that should go, more where it is
strict. (Published too, and not simulated yet: AF_XDP through a premapped queue.)
"""

from pathlib import Path

from vringlab import compare, predict
from vringlab.experiments.premapped.base import RATES, SEED, SIGMA
from vringlab.experiments.premapped.fit import calibration_points, committed_fit
from vringlab.experiments.premapped.report import report
from vringlab.experiments.vmap.tables import waterfall_rows, write_posterior
from vringlab.published import load_published
from vringlab.results import write_table
from vringlab.validation import rate_row, write_rows

SOURCE = "premapped-2023"
WATERFALL = ("iommu", "step", "cost", "per_buffer_ns", "per_fragment_ns", "difference_ns")


def main(folder: Path, check: bool) -> None:
    """Writes the tables and the report of results/premapped."""
    published = {row.id: row for row in load_published() if row.source == SOURCE}
    assert set(published) == set(RATES), "each published row has a scenario"
    fit = committed_fit(calibration_points(published.values()))
    predicted = predict(RATES.values(), fit, seed=SEED, measurement_sigma=SIGMA)
    found = dict(zip(RATES, predicted, strict=True))
    saved = {
        mode: compare(
            found[f"dmamerge.{mode}.before"].result,
            found[f"dmamerge.{mode}.after"].result,
            core="guest",
        )
        for mode in ("lazy", "strict")
    }
    rows = [rate_row(published[n], p, "guest") for n, p in found.items()]
    write_rows(folder / "table.csv", rows)
    write_posterior(folder / "posterior.csv", fit)
    falls = ((mode, *row) for mode, c in saved.items() for row in waterfall_rows(c))
    write_table(folder / "waterfall.csv", WATERFALL, falls)
    (folder / "report.md").write_text(report(rows), encoding="utf-8", newline="\n")
    assert all(c.gain_percent > 0 for c in saved.values()), "fewer mappings are faster"
