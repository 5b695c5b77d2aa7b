"""The folder of a sweep: one process at a time writes to it, part by part.

points.parquet   the points of the sweep, in its order
parts/*.parquet  results, a file a batch, named by the keys it has
manifest.json    what made it
lock             who is writing
"""

import fcntl
import hashlib
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Any, Self

import numpy as np
from numpy.typing import NDArray

from vringlab.results import ResultsError
from vringlab.sweeps.axes import Axis
from vringlab.sweeps.batch import FAILED, axis_fields, metadata, point_fields
from vringlab.sweeps.files import (
    SweepError,
    how_written,
    opened,
    replacing,
    write_parquet,
)
from vringlab.sweeps.points import Point

POINTS, PARTS, LOCK = "points.parquet", "parts", "lock"
_CHUNK = 4096
"""Points that are read or written at once."""
_KEY_DIGITS = 64
Keys = NDArray[np.bytes_]
"""Digests of 32 bytes, sorted: what a finished point costs in memory."""

_held: set[IO[str]] = set()


def _release_in_child() -> None:
    """A process forked meanwhile must not hold the lock after this one is dead."""
    for file in _held:
        file.close()
    _held.clear()


os.register_at_fork(after_in_child=_release_in_child)


class Folder:
    """A folder of a sweep, locked for writing while it is entered."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock: IO[str] | None = None

    def __enter__(self) -> Self:
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            file = (self.path / LOCK).open("a+")
        except OSError as error:
            raise SweepError(f"{self.path}: no folder to write to: {error.strerror}") from None
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise SweepError(f"{self.path}: in use by process {_holder(file)}") from None
        self._lock = file
        _held.add(file)
        self._say_who()
        return self

    def __exit__(self, *_: object) -> None:
        if self._lock is not None:
            _held.discard(self._lock)
            self._lock.close()
            self._lock = None

    def _say_who(self) -> None:
        assert self._lock is not None
        try:
            self._lock.truncate(0)
            self._lock.write(f"{os.getpid()}\n")
            self._lock.flush()
        except OSError as error:
            self.__exit__()
            raise SweepError(f"{self.path / LOCK}: can't be written: {error.strerror}") from None

    # --- points -----------------------------------------------------------------------------------

    def write_points(self, points: Iterable[Point], axes: tuple[Axis, ...]) -> int:
        """Writes down which points there are, some at a time; returns how many."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        schema = points_schema(axes)
        count = 0
        with (
            replacing(self.path / POINTS) as partial,
            pa.OSFile(str(partial), "wb") as sink,
            pq.ParquetWriter(sink, schema, **how_written(schema)) as writer,
        ):
            for chunk in _chunks(points):
                writer.write_table(_points_table(schema, count, chunk, axes))
                count += len(chunk)
        return count

    def count(self, finished: Keys) -> int:
        """How many of the points are among the finished ones."""
        with opened(self.path / POINTS, ("key",)) as file:
            chunks = file.iter_batches(_CHUNK, columns=["key"])
            return sum(int(among(finished, chunk["key"]).sum()) for chunk in chunks)

    def batches(self, size: int, finished: Keys) -> Iterator[Any]:
        """Tables of at most `size` points that are not finished, in their order."""
        import pyarrow as pa

        waiting: list[Any] = []
        with opened(self.path / POINTS, ("key", "changes")) as file:
            for chunk in file.iter_batches(_CHUNK):
                table = pa.table(chunk)
                waiting.append(table.filter(pa.array(~among(finished, table["key"]))))
                ready = pa.concat_tables(waiting).combine_chunks()
                whole = len(ready) // size * size
                yield from (ready.slice(start, size) for start in range(0, whole, size))
                waiting = [ready.slice(whole)]
        if waiting and len(waiting[0]):
            yield waiting[0]

    # --- parts ------------------------------------------------------------------------------------

    def parts(self) -> list[Path]:
        return sorted((self.path / PARTS).glob("*.parquet"))

    def write_part(self, table: Any) -> Path:
        """Writes results; the same keys always make the same name."""
        keys = "".join(table["key"].to_pylist())
        path = self.path / PARTS / f"{hashlib.sha256(keys.encode()).hexdigest()[:32]}.parquet"
        write_parquet(path, table)
        return path

    def finished(self) -> Keys:
        """The keys that parts have."""
        return keys_in(self.parts())

    def forget_failed(self) -> None:
        """Takes failed points out of the parts, so that they run again."""
        import pyarrow.compute as pc

        for path in self.parts():
            with opened(path, ("key", "status")) as file:
                table = file.read()
            kept = table.filter(pc.not_equal(table["status"], FAILED))
            if not len(kept):
                path.unlink()
            elif len(kept) < len(table):
                write_parquet(path, kept)

    def check_count(self, total: int) -> None:
        """ResultsError unless each of the points has exactly one row."""
        keys = self.finished()
        twice = np.flatnonzero(keys[1:] == keys[:-1])
        if len(twice):
            raise ResultsError(f"{self.path / PARTS}: {keys[twice[0]].hex()} stands there twice")
        found = self.count(keys)
        if found != total:
            raise ResultsError(f"{self.path}: {found} of {total} points are there")


def keys_in(paths: Iterable[Path]) -> Keys:
    """The keys that files have, all together."""
    found = [np.empty(0, "S32")]
    for path in paths:
        with opened(path, ("key",)) as file:
            found += [digests(c["key"]) for c in file.iter_batches(_CHUNK, columns=["key"])]
    keys = np.concatenate(found)
    keys.sort()
    return keys


def digests(column: Any) -> Keys:
    """A column of keys, as bytes; ValueError if one is none."""
    keys = column.to_pylist()
    if any(len(key) != _KEY_DIGITS for key in keys):
        raise ValueError("a key is not of 64 digits")
    return np.frombuffer(bytes.fromhex("".join(keys)), dtype="S32")


def among(finished: Keys, column: Any) -> NDArray[np.bool_]:
    """Which keys of the column are finished."""
    wanted = digests(column)
    if not len(finished):
        return np.zeros(len(wanted), dtype=bool)
    places = np.minimum(np.searchsorted(finished, wanted), len(finished) - 1)
    return np.asarray(finished[places] == wanted)


def points_schema(axes: tuple[Axis, ...]) -> Any:
    import pyarrow as pa

    point = pa.field("point", pa.uint64(), nullable=False)
    changes = pa.field("changes", pa.string(), nullable=False)
    return pa.schema([point, *point_fields(axes), changes], metadata())


def _points_table(schema: Any, start: int, points: list[Point], axes: tuple[Axis, ...]) -> Any:
    import pyarrow as pa

    cells = [
        pa.array([axis.cell(point.values[place]) for point in points], field.type)
        for place, (axis, field) in enumerate(zip(axes, axis_fields(axes), strict=True))
    ]
    numbers = pa.array(np.arange(start, start + len(points), dtype=np.uint64))
    keys, changes = [point.key for point in points], [point.changes for point in points]
    return pa.Table.from_arrays([numbers, pa.array(keys), *cells, pa.array(changes)], schema=schema)


def _chunks(points: Iterable[Point]) -> Iterator[list[Point]]:
    chunk: list[Point] = []
    for point in points:
        chunk.append(point)
        if len(chunk) == _CHUNK:
            yield chunk
            chunk = []
    yield chunk


def _holder(file: IO[str]) -> str:
    file.seek(0)
    text = file.read(32).strip()
    file.close()
    return text if text.isdigit() else "of an unknown number"
