"""The cost rows as fitted to the rows marked `calibrate`: a mapping for each buffer."""

from collections.abc import Iterable

from vringlab import Calibration, Point
from vringlab.experiments.fits import committed
from vringlab.experiments.premapped.base import RATES, SIGMA
from vringlab.published import Published


def calibration_points(published: Iterable[Published]) -> list[Point]:
    """What may be fitted: a row to predict does not even get here."""
    return [
        Point(id=row.id, scenario=RATES[row.id], rate_pps=row.value, relative_sigma=SIGMA)
        for row in published
        if row.use == "calibrate" and row.id in RATES
    ]


def committed_fit(points: Iterable[Point]) -> Calibration:
    """fit.json; ValueError if it was fitted to other data than these."""
    return committed("premapped", points)
