"""Fits again: `python -m vringlab.experiments.xdp_batch.refit` renews fit.json here."""

from pathlib import Path

from vringlab import Calibration, calibrate
from vringlab.experiments.xdp_batch.base import SEED
from vringlab.experiments.xdp_batch.fit import calibration_points
from vringlab.published import load_published

DRAWS = 100


def refit(published: Path | None = None, draws: int = DRAWS) -> Calibration:
    """The fit to the calibrate rows of a file, by default of the one that is packaged."""
    return calibrate(calibration_points(load_published(published)), draws=draws, seed=SEED)


if __name__ == "__main__":
    Path("experiments/xdp_batch/fit.json").write_text(refit().to_json(), encoding="utf-8")
