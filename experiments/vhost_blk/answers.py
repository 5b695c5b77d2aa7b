"""What the fit says about each published row of block devices."""

from collections.abc import Iterable
from dataclasses import dataclass

from vringlab import Calibration, Prediction, predict
from vringlab.experiments.vhost_blk.base import (
    RATES,
    SEED,
    SIGMA_2010,
    SIGMA_2022,
    bound_by,
    sigma_of,
)
from vringlab.experiments.vhost_blk.fit import calibration_points, committed_fit
from vringlab.experiments.vhost_blk.system_time import published_system_times
from vringlab.published import Published
from vringlab.validation import Row, rate_row

SOURCES = ("vhost-blk-2010", "vhost-blk-2022")


@dataclass(frozen=True, slots=True)
class Found:
    """The answers, and the fit that they come from."""

    fit: Calibration
    rows: list[Row]


def answers(
    published: Iterable[Published], fit: Calibration | None = None, draws: int | None = None
) -> list[Row]:
    """The rows of SOURCES among these, by default at the committed fit and all its draws."""
    return find(published, fit, draws).rows


def find(
    published: Iterable[Published], fit: Calibration | None = None, draws: int | None = None
) -> Found:
    """The answers and the fit."""
    asked = {row.id: row for row in published if row.source in SOURCES}
    assert set(asked) == set(RATES), "each published row has a scenario"
    fit = fit or committed_fit(calibration_points([*asked.values(), *published_system_times()]))
    predicted: dict[str, Prediction] = {}
    for sigma in (SIGMA_2010, SIGMA_2022):
        predicted |= _predicted(fit, sigma, draws)
    return Found(fit, [rate_row(asked[n], predicted[n], bound_by(n)) for n in RATES])


def _predicted(fit: Calibration, sigma: float, draws: int | None) -> dict[str, Prediction]:
    """The rows whose measurement has this noise."""
    names = [name for name in RATES if sigma_of(name) == sigma]
    asked = [RATES[name] for name in names]
    found = predict(asked, fit, draws=draws, seed=SEED, measurement_sigma=sigma)
    return dict(zip(names, found, strict=True))
