"""What does direct access to vhost's ring metadata gain over user access, SMAP on and off?

The metadata of a ring are in guest memory. By user access each read or write of them toggles SMAP,
checks the address and waits at a speculation barrier; direct access maps the ring once instead.
"""

from pathlib import Path

from vringlab import compare
from vringlab.experiments.vmap import figures, tables
from vringlab.experiments.vmap.answers import find
from vringlab.experiments.vmap.base import PAIRS, RATES, SEED
from vringlab.experiments.vmap.report import print_report
from vringlab.published import load_published
from vringlab.validation import write_rows

__all__ = ["SEED", "main"]


def main(folder: Path, check: bool) -> None:
    """Writes the tables and figures of results/vmap."""
    found = find(load_published())
    fit, rows, gains, predicted = found.fit, found.rows, found.gains, found.predicted
    results = {name: predicted[scenario].result for name, scenario in RATES.items()}
    comparisons = {
        name: compare(results[f"{name}.before"], results[f"{name}.after"]) for name in PAIRS
    }
    write_rows(folder / "table.csv", rows)
    tables.write_waterfall(folder / "waterfall.csv", comparisons)
    tables.write_posterior(folder / "posterior.csv", fit)
    tables.write_used_element(folder / "used_element.csv", gains)
    figures.draw_predicted(folder / "predicted", rows)
    figures.draw_direct_access(folder / "waterfall", comparisons)
    print_report(rows, gains[1])
    assert all(c.gain_percent > 0 for c in comparisons.values()), "direct access is faster"
