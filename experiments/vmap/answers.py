"""What the fit says about each published row of direct access."""

from collections.abc import Iterable
from dataclasses import dataclass

from vringlab import Calibration, Gain, Prediction, Scenario, predict
from vringlab.experiments.vmap.base import RATES, SEED, TX, USED_ELEMENT
from vringlab.experiments.vmap.fit import MEASUREMENT_SIGMA, calibration_points, committed_fit
from vringlab.published import Published
from vringlab.validation import Row, gain_row, rate_row

SOURCES = ("vmap-2018", "frag-refcount-2018", "vmap-2019")


@dataclass(frozen=True, slots=True)
class Found:
    """The answers, and what they come from."""

    fit: Calibration
    rows: list[Row]
    """In the order of the published ones."""
    predicted: dict[Scenario, Prediction]
    gains: dict[int, Gain]
    """Of a block for the used element, by the number of used elements written at once."""


def answers(
    published: Iterable[Published], fit: Calibration | None = None, draws: int | None = None
) -> list[Row]:
    """The rows of SOURCES among these, by default at the committed fit and all its draws."""
    return find(published, fit, draws).rows


def find(
    published: Iterable[Published], fit: Calibration | None = None, draws: int | None = None
) -> Found:
    """The answers with all that was run for them."""
    asked_for = [row for row in published if row.source in SOURCES]
    assert {row.id for row in asked_for} == {*RATES, "usedelem2019"}, "each row has a scenario"
    fit = fit or committed_fit(calibration_points(asked_for, RATES))
    asked = [*RATES.values(), *USED_ELEMENT[TX.batch], *USED_ELEMENT[1]]
    answered = predict(asked, fit, draws=draws, seed=SEED, measurement_sigma=MEASUREMENT_SIGMA)
    predicted = dict(zip(asked, answered, strict=True))
    gains = {n: predicted[b].gain_over(predicted[a]) for n, (a, b) in USED_ELEMENT.items()}
    rows = [
        rate_row(row, predicted[RATES[row.id]])
        if row.id in RATES
        else gain_row(row, gains[TX.batch])
        for row in asked_for
    ]
    return Found(fit, rows, predicted, gains)
