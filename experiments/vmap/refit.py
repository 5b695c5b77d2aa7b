"""Fits again: `python -m vringlab.experiments.vmap.refit` renews experiments/vmap/fit.json here."""

from pathlib import Path

from vringlab import Calibration, calibrate
from vringlab.experiments.vmap.base import RATES, SEED
from vringlab.experiments.vmap.fit import calibration_points
from vringlab.published import load_published

DRAWS = 200


def refit(published: Path | None = None, draws: int = DRAWS) -> Calibration:
    """The fit to the calibrate rows of a file, by default of the one that is packaged."""
    rows = (row for row in load_published(published) if row.id in RATES)
    return calibrate(calibration_points(rows, RATES), draws=draws, seed=SEED)


if __name__ == "__main__":
    Path("experiments/vmap/fit.json").write_text(refit().to_json(), encoding="utf-8")
