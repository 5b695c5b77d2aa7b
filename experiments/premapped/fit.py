"""The cost rows as fitted to the rows marked `calibrate`, for each of the two machines."""

from collections.abc import Iterable

from vringlab import Calibration, Point
from vringlab.experiments.fits import committed
from vringlab.experiments.premapped.base import RATES, SIGMA, SOCKETS
from vringlab.published import Published

SCENARIOS = {
    "fit.json": RATES,
    "fit_afxdp.json": {f"{name}.rate": scenario for name, scenario in SOCKETS.items()},
}
"""By the file of the fit."""


def calibration_points(published: Iterable[Published], file: str) -> list[Point]:
    """What may be fitted: a row to predict does not even get here."""
    scenarios = SCENARIOS[file]
    return [
        Point(id=row.id, scenario=scenarios[row.id], rate_pps=row.value, relative_sigma=SIGMA)
        for row in published
        if row.use == "calibrate" and row.id in scenarios
    ]


def committed_fit(published: Iterable[Published], file: str) -> Calibration:
    """ValueError if it was fitted to other data than these."""
    return committed("premapped", calibration_points(published, file), file)
