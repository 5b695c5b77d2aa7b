"""Published rows beside what the model predicts for them: the tables of all experiments alike."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from vringlab.prediction import Gain, Prediction, noise_factors
from vringlab.published import Published
from vringlab.results import Table, read_table, write_table
from vringlab.run_result import Result
from vringlab.scenario import Scenario

COLUMNS = (
    "id",
    "metric",
    "unit",
    "published",
    "predicted",
    "low",
    "high",
    "use",
    "unmodelled_share",
)
TABLE = "table.csv"
"""The file of that name in an experiment's results has these columns and no others."""

_PER_SECOND = {"pps": 1.0, "kpps": 1e3, "Mpps": 1e6, "IOPS": 1.0}


@dataclass(frozen=True, slots=True)
class Row:
    """A published value and its prediction, in the published unit."""

    published: Published
    predicted: float
    low: float
    high: float
    unmodelled_share: float | None
    """Of the busy time of the core that bounds the rate, 0 to 1; None where it has no meaning."""

    @property
    def error_percent(self) -> float:
        """Of the prediction, relative to the published value."""
        return 100 * (self.predicted / self.published.value - 1)


def rate_row(published: Published, prediction: Prediction, core: str = "worker") -> Row:
    """For a published rate in packets, I/Os or, of a disk, megabytes a second.

    `core`: whose share of unmodelled time the row states; the one that bounds the rate.
    """
    unit = unit_per_second(published, prediction.scenario)
    share = prediction.result.unmodelled_of(core)  # not a number where it has nothing to do
    return Row(
        published,
        prediction.rate_pps / unit,
        prediction.low_pps / unit,
        prediction.high_pps / unit,
        share if math.isfinite(share) else None,
    )


def unit_per_second(published: Published, scenario: Scenario) -> float:
    """Packets or I/Os a second that one of the published unit is; ValueError where it is no rate.

    >>> from vringlab.published import load_published
    >>> unit_per_second(load_published()[0], Scenario())
    1000000.0
    """
    unit = _PER_SECOND.get(published.unit)
    if published.unit == "MB/s":
        unit = 1e6 / scenario.blk.block_bytes
    if published.metric != "rate" or unit is None:
        raise ValueError(
            f"{published.id}: {published.metric} in {published.unit} is no packet rate"
        )
    return unit


def utilisation_row(
    published: Published,
    sampled: Sequence[Result],
    core: str,
    *,
    seed: int = 1,
    measurement_sigma: float = 0.02,
    level: float = 0.90,
) -> Row:
    """For a published utilisation of a processor in percent.

    `sampled`: of `sample`, the run at the fit first, then one a draw. measurement_sigma is the
    standard deviation of the logarithm that one measurement adds, as for a rate; none says more
    than 100.
    """
    if published.unit != "%" or not published.metric.startswith("utilisation"):
        raise ValueError(f"{published.id}: {published.metric} is no utilisation")
    at_fit, *drawn = sampled
    noise = noise_factors(f"{seed} {published.id}", len(drawn), measurement_sigma)
    shares = [min(100, 100 * r.busy_share(core) * n) for r, n in zip(drawn, noise, strict=True)]
    low, high = np.quantile(shares, [(1 - level) / 2, (1 + level) / 2])
    predicted = 100 * at_fit.busy_share(core)
    return Row(published, predicted, float(low), float(high), at_fit.unmodelled_of(core))


def gain_row(published: Published, gain: Gain) -> Row:
    """For a published gain in percent."""
    if published.metric != "gain" or not published.unit.startswith("%"):
        raise ValueError(f"{published.id}: {published.metric} in {published.unit} is no gain")
    return Row(published, gain.percent, gain.low, gain.high, None)


def write_rows(path: Path, rows: Iterable[Row]) -> None:
    """Writes the table of an experiment."""
    write_table(path, COLUMNS, map(_cells, rows))


def write_combined(path: Path, results: Path) -> None:
    """Writes one table of those of all experiments in a folder of results."""
    files = sorted(results.glob(f"[!.]*/{TABLE}"))
    tables = [_read(file) for file in files if file.parent.name != path.parent.name]
    rows = [[row[column] for column in COLUMNS] for table in tables for row in table.rows]
    write_table(path, COLUMNS, rows)


def _read(path: Path) -> Table:
    table = read_table(path, COLUMNS)
    if table.columns != COLUMNS:
        raise ValueError(f"{path}: must have the columns {', '.join(COLUMNS)}")
    return table


def _cells(row: Row) -> tuple[object, ...]:
    p = row.published
    values = (float(p.value), row.predicted, row.low, row.high)
    return (p.id, p.metric, p.unit, *values, p.use, row.unmodelled_share)
