"""Fits again: `python -m vringlab.experiments.calibration.refit` renews the fits here."""

from pathlib import Path

from vringlab import Joint, calibrate_jointly
from vringlab.experiments.calibration.base import SEED, joint_points, sources
from vringlab.published import load_published

DRAWS, DRAWS_WITHOUT = 100, 40


def refit(published: Path | None = None) -> Joint:
    """The fits to the calibrate rows of a file, by default of the one that is packaged."""
    rows = load_published(published)
    return calibrate_jointly(
        joint_points(rows),
        sources(rows),
        draws=DRAWS,
        draws_without=DRAWS_WITHOUT,
        seed=SEED,
    )


if __name__ == "__main__":
    folder = Path("experiments/calibration")
    joint = refit()
    (folder / "fit.json").write_text(joint.calibration.to_json(), encoding="utf-8")
    for source, fit in joint.without:
        (folder / f"without_{source}.json").write_text(fit.to_json(), encoding="utf-8")
