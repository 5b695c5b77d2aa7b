"""Fits again: `python -m vringlab.experiments.vhost_blk.refit` renews fit.json here."""

from pathlib import Path

from vringlab import Calibration, calibrate
from vringlab.experiments.vhost_blk.base import SEED
from vringlab.experiments.vhost_blk.fit import calibration_points
from vringlab.experiments.vhost_blk.system_time import published_system_times
from vringlab.published import load_published

DRAWS = 100


def refit(published: Path | None = None, draws: int = DRAWS) -> Calibration:
    """The fit to the calibrate rows of a file, by default of the one that is packaged."""
    rows = (*load_published(published), *published_system_times())
    return calibrate(calibration_points(rows), draws=draws, seed=SEED)


if __name__ == "__main__":
    Path("experiments/vhost_blk/fit.json").write_text(refit().to_json(), encoding="utf-8")
