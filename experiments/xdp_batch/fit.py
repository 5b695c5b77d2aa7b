"""The cost rows as fitted to the rows marked `calibrate`: direct access and the batch sweep."""

from collections.abc import Iterable

from vringlab import Calibration, Point
from vringlab.experiments.fits import committed
from vringlab.experiments.vmap.fit import MEASUREMENT_SIGMA
from vringlab.experiments.xdp_batch.base import CALIBRATED, SWEEP_SIGMA
from vringlab.published import Published

UNITS = {"pps": 1.0, "Mpps": 1e6}


def calibration_points(published: Iterable[Published]) -> list[Point]:
    """What may be fitted: a row to predict does not even get here."""
    return [
        Point(
            id=row.id,
            scenario=CALIBRATED[row.id],
            rate_pps=row.value * UNITS[row.unit],
            relative_sigma=SWEEP_SIGMA if row.unit == "pps" else MEASUREMENT_SIGMA,
        )
        for row in published
        if row.use == "calibrate" and row.id in CALIBRATED
    ]


def committed_fit(points: Iterable[Point]) -> Calibration:
    """fit.json; ValueError if it was fitted to other data than these."""
    return committed("xdp_batch", points)
