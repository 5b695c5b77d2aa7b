"""The cost rows as fitted to the rows marked `calibrate`: the VMM of 2010, and the bare host."""

from collections.abc import Iterable

from vringlab import Calibration, Point, Scenario
from vringlab.experiments.fits import committed
from vringlab.experiments.vhost_blk.base import DD_IOS, RATES, SIGMA_2010, SYSTEM, sigma_of
from vringlab.published import Published


def per_second(row: Published, scenario: Scenario) -> float:
    """A published rate in I/Os a second."""
    if row.unit not in ("MB/s", "IOPS"):
        raise ValueError(f"{row.id}: {row.unit} is no rate of a disk")
    return row.value * (1e6 / scenario.blk.block_bytes if row.unit == "MB/s" else 1)


def calibration_points(published: Iterable[Published]) -> list[Point]:
    """What may be fitted: a row to predict does not even get here."""
    fitted = [row for row in published if row.use == "calibrate"]
    rates = [
        Point(
            id=row.id,
            scenario=RATES[row.id],
            rate_pps=per_second(row, RATES[row.id]),
            relative_sigma=sigma_of(row.id),
        )
        for row in fitted
        if row.id in RATES
    ]
    times = [
        Point(
            id=row.id,
            scenario=RATES[SYSTEM[row.id]],
            rate_pps=DD_IOS / row.value,
            relative_sigma=SIGMA_2010,
            guest_system=True,
        )
        for row in fitted
        if row.id in SYSTEM
    ]
    return rates + times


def committed_fit(points: Iterable[Point]) -> Calibration:
    """fit.json; ValueError if it was fitted to other data than these."""
    return committed("vhost_blk", points)
