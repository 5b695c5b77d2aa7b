"""Time a packet over the batch size: published, predicted, and a + b / batch through either."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from vringlab.experiments.xdp_batch.base import BATCHES, SWEEP_RATES
from vringlab.results import write_table
from vringlab.validation import Row

WORKLOADS = ("tx", "rx")
SWEEP = (
    "workload",
    "batch",
    "use",
    "published_pps",
    "predicted_pps",
    "low_pps",
    "high_pps",
    "published_ns",
    "predicted_ns",
    "published_fit_ns",
    "predicted_fit_ns",
)
FITS = ("workload", "rates", "a_ns", "b_ns", "worst_percent")


@dataclass(frozen=True)
class Fit:
    """a + b / batch: a a packet, b a call."""

    a_ns: float
    b_ns: float
    worst_percent: float
    """The largest distance of a point from the curve, in percent of the point."""

    def ns(self, batch: float) -> float:
        return self.a_ns + self.b_ns / batch


@dataclass(frozen=True)
class Curve:
    """One workload's rows by batch, and both fits."""

    workload: str
    rows: tuple[Row, ...]
    published: Fit
    predicted: Fit


def curves(rows: Iterable[Row]) -> list[Curve]:
    """Of the rows of the sweep among these."""
    by_id = {row.published.id: row for row in rows}
    return [_curve(w, [by_id[name] for name in _names(w)]) for w in WORKLOADS]


def write_sweep(path: Path, curves: Iterable[Curve]) -> None:
    """Each point of the sweep, with both fitted curves beside it."""
    write_table(path, SWEEP, (cells for curve in curves for cells in _points(curve)))


def write_fits(path: Path, curves: Iterable[Curve]) -> None:
    """a and b of both fits."""
    fits = [(c.workload, n, f) for c in curves for n, f in _fits(c)]
    write_table(path, FITS, ((w, n, f.a_ns, f.b_ns, f.worst_percent) for w, n, f in fits))


def ns(rate_pps: float) -> float:
    """Of a packet."""
    return 1e9 / rate_pps


def fitted(times_ns: Sequence[float]) -> Fit:
    """Least squares in nanoseconds, one time a batch of BATCHES."""
    x = np.array([[1, 1 / batch] for batch in BATCHES])
    times = np.array(times_ns)
    a, b = np.linalg.lstsq(x, times, rcond=None)[0]
    worst = np.max(np.abs(x @ np.array([a, b]) / times - 1))
    return Fit(float(a), float(b), 100 * float(worst))


def _names(workload: str) -> list[str]:
    return [name for name, s in SWEEP_RATES.items() if s.workload == workload]


def _curve(workload: str, rows: Sequence[Row]) -> Curve:
    published = fitted([ns(row.published.value) for row in rows])
    return Curve(workload, tuple(rows), published, fitted([ns(row.predicted) for row in rows]))


def _fits(curve: Curve) -> tuple[tuple[str, Fit], ...]:
    return ("published", curve.published), ("predicted", curve.predicted)


def _points(curve: Curve) -> Iterable[tuple[object, ...]]:
    for batch, row in zip(BATCHES, curve.rows, strict=True):
        rates = (row.published.value, row.predicted, row.low, row.high)
        times = (ns(row.published.value), ns(row.predicted))
        fits = (curve.published.ns(batch), curve.predicted.ns(batch))
        yield (curve.workload, batch, row.published.use, *rates, *times, *fits)
