"""The cost rows as fitted to the rows marked `calibrate`, and to nothing else."""

from collections.abc import Iterable, Mapping

from vringlab import Calibration, Point, Scenario
from vringlab.experiments.fits import committed
from vringlab.published import Published

MEASUREMENT_SIGMA = 0.02
"""Standard deviation of ln(rate): two printed digits, and one run differs from the next."""


def calibration_points(
    published: Iterable[Published], scenarios: Mapping[str, Scenario]
) -> list[Point]:
    """What may be fitted: a row to predict does not even get here."""
    return [
        Point(
            id=row.id,
            scenario=scenarios[row.id],
            rate_pps=row.value * 1e6,
            relative_sigma=MEASUREMENT_SIGMA,
        )
        for row in published
        if row.use == "calibrate"
    ]


def committed_fit(points: Iterable[Point]) -> Calibration:
    """fit.json; ValueError if it was fitted to other data than these."""
    return committed("vmap", points)
