"""Fits again: `python -m vringlab.experiments.premapped.refit` renews fit.json here."""

from pathlib import Path

from vringlab import Calibration, calibrate
from vringlab.experiments.premapped.base import SEED
from vringlab.experiments.premapped.fit import calibration_points
from vringlab.published import load_published

DRAWS = 100


def refit(published: Path | None = None, draws: int = DRAWS) -> Calibration:
    """The fit to the calibrate rows of a file, by default of the one that is packaged."""
    return calibrate(calibration_points(load_published(published)), draws=draws, seed=SEED)


if __name__ == "__main__":
    Path("experiments/premapped/fit.json").write_text(refit().to_json(), encoding="utf-8")
