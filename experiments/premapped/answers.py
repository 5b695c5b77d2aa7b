"""What the fits say about each published row of receive behind an IOMMU and of AF_XDP."""

from collections.abc import Iterable
from dataclasses import dataclass

from vringlab import Calibration, Prediction, predict
from vringlab.experiments.premapped import sockets
from vringlab.experiments.premapped.base import RATES, SEED, SIGMA
from vringlab.experiments.premapped.fit import committed_fit
from vringlab.published import Published
from vringlab.validation import Row, rate_row

SOURCES = ("premapped-2023", "afxdp-2023")


@dataclass(frozen=True, slots=True)
class Found:
    """The answers, and what they come from."""

    mapping_fit: Calibration
    socket_fit: Calibration
    rows: list[Row]
    """In the order of the published ones."""
    received: dict[str, Prediction]
    """Rates behind an IOMMU, by the id of the row."""


def answers(
    published: Iterable[Published], fit: Calibration | None = None, draws: int | None = None
) -> list[Row]:
    """The rows of SOURCES among these, by default at the committed fits and all their draws."""
    return find(published, fit, draws).rows


def find(
    published: Iterable[Published], fit: Calibration | None = None, draws: int | None = None
) -> Found:
    """The answers with all that was run for them."""
    asked = {row.id: row for row in published if row.source in SOURCES}
    mapping_fit = fit or committed_fit(asked.values(), "fit.json")
    socket_fit = fit or committed_fit(asked.values(), "fit_afxdp.json")
    predicted = predict(
        RATES.values(), mapping_fit, draws=draws, seed=SEED, measurement_sigma=SIGMA
    )
    received = dict(zip(RATES, predicted, strict=True))
    rows = [rate_row(asked[name], p, "guest") for name, p in received.items()]
    rows += sockets.socket_rows(asked, socket_fit, draws)
    assert [row.published.id for row in rows] == list(asked), "each published row has one"
    return Found(mapping_fit, socket_fit, rows, received)
