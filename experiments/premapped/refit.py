"""Fits again: `python -m vringlab.experiments.premapped.refit` renews the fits here."""

from pathlib import Path

from vringlab import Calibration, calibrate
from vringlab.experiments.premapped.base import SEED
from vringlab.experiments.premapped.fit import SCENARIOS, calibration_points
from vringlab.published import load_published

DRAWS = 100


def refit(file: str, published: Path | None = None, draws: int = DRAWS) -> Calibration:
    """The fit to the calibrate rows of `published`, by default of what is packaged."""
    points = calibration_points(load_published(published), file)
    return calibrate(points, draws=draws, seed=SEED)


if __name__ == "__main__":
    for file in SCENARIOS:
        text = refit(file).to_json()
        Path("experiments/premapped", file).write_text(text, encoding="utf-8")
