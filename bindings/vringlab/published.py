"""Published measurements, which predictions are held against."""

import importlib.resources
import math
from dataclasses import dataclass
from pathlib import Path

from vringlab.results import ResultsError, Table, read_table

USES = ("calibrate", "predict")


@dataclass(frozen=True, slots=True)
class Published:
    """One published value."""

    id: str
    source: str
    workload: str
    host: str
    variant: str
    metric: str
    """rate, gain, or the utilisation of a processor."""
    unit: str
    value: float
    use: str
    """calibrate: may be fitted; predict: never is."""
    note: str

    def __repr__(self) -> str:
        return f"Published({self.id}: {self.metric} {self.value:g} {self.unit}, {self.use})"


def load_published(path: Path | None = None) -> tuple[Published, ...]:
    """The rows of a file, by default the one that comes with the package.

    >>> [row for row in load_published() if row.id == "vmap2019.smap_on.before"]
    [Published(vmap2019.smap_on.before: rate 5.2 Mpps, calibrate)]
    """
    columns = tuple(Published.__dataclass_fields__)
    if path is not None:
        table = read_table(path, columns)
    else:
        packaged = importlib.resources.files("vringlab") / "experiments" / "published.csv"
        with importlib.resources.as_file(packaged) as file:
            table = read_table(file, columns)
    return _checked(table, tuple(_rows(table)))


def _rows(table: Table) -> list[Published]:
    texts = [name for name in Published.__dataclass_fields__ if name != "value"]
    values = table.numbers("value").tolist()
    return [
        Published(value=value, **{name: row[name] for name in texts})
        for row, value in zip(table.rows, values, strict=True)
    ]


def _checked(table: Table, rows: tuple[Published, ...]) -> tuple[Published, ...]:
    seen: set[str] = set()
    for number, row in enumerate(rows, 2):
        where = f"{table.name}, row {number}"
        if not row.id or row.id in seen:
            raise ResultsError(f'{where}: id = "{row.id}": must be given, and only once')
        if not math.isfinite(row.value):
            raise ResultsError(f"{where}: value = {row.value}: must be a finite number")
        if row.use not in USES:
            raise ResultsError(f'{where}: use = "{row.use}": must be one of {", ".join(USES)}')
        seen.add(row.id)
    return rows
