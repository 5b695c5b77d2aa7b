"""The guest's system time of the published runs, and what the faulty shift does to its data."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib.resources import as_file, files
from pathlib import Path

import numpy as np
from vringlab import Blk, Result
from vringlab.experiments.vhost_blk.base import DD_IOS, VHOST, Run, dd
from vringlab.published import Published, load_published
from vringlab.results import write_table

COLUMNS = ("id", "unit", "published", "predicted", "low", "high", "use", "factor")
CHECKED_IOS = 64


def published_system_times() -> tuple[Published, ...]:
    """Guest system times, which published.csv has in its notes."""
    with as_file(files("vringlab") / "experiments" / "vhost_blk" / "guest_time.csv") as path:
        return load_published(path)


@dataclass(frozen=True, slots=True)
class SystemTime:
    """Seconds of a guest's system time for all I/Os of the published run."""

    published: Published
    predicted: float
    low: float
    high: float

    @property
    def factor(self) -> float:
        """Predicted over published."""
        return self.predicted / self.published.value


def answer(row: Published, sampled: Sequence[Result]) -> SystemTime:
    """The run at the fit comes first in `sampled`, then one a draw; 90 % of them, without noise."""
    at_fit, *drawn = (DD_IOS / r.guest_system_rate for r in sampled)
    low, high = np.quantile(drawn, [0.05, 0.95])
    return SystemTime(row, at_fit, float(low), float(high))


def overwritten(run: Run) -> float:
    """Share of the bytes that a sequential writer reads back wrong from the prototype."""
    base = dd("write", **VHOST)
    fields = base.blk.to_dict() | {"operation": "write-read", "data": True}
    fields |= {"disk_bytes": CHECKED_IOS * base.blk.block_bytes}
    [result] = run([base.replace(packets=2 * CHECKED_IOS, blk=Blk(**fields))])
    return 2 * result.blk.wrong_bytes / result.bytes


def write_answers(path: Path, answers: Iterable[SystemTime]) -> None:
    """Both runs."""
    rows = []
    for a in answers:
        p = a.published
        rows.append((p.id, p.unit, p.value, a.predicted, a.low, a.high, p.use, a.factor))
    write_table(path, COLUMNS, rows)
