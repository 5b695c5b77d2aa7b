"""Parquet files of a sweep: written whole or not at all, read defensively."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from vringlab.results import ResultsError
from vringlab.sweeps.batch import SCHEMA


class SweepError(RuntimeError):
    """A sweep that can't go on, through no fault of its points; what it finished stays."""


def write_parquet(path: Path, table: Any) -> None:
    """Writes a table; SweepError that names the file if there is no room for it."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, **how_written(table.schema))
    with replacing(path) as partial, partial.open("wb") as file:
        file.write(sink.getvalue())


def how_written(schema: Any) -> dict[str, Any]:
    """Keys have no dictionary: each is different."""
    repeated = [name for name in schema.names if name not in ("key", "changes")]
    return {"compression": "zstd", "write_page_checksum": True, "use_dictionary": repeated}


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yields where to write; once that is on the disk, it replaces `path`."""
    partial = path.with_name(path.name + ".part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        yield partial
        _sync(partial)
        partial.replace(path)
    except OSError as error:
        partial.unlink(missing_ok=True)
        raise SweepError(
            f"{path}: can't be written: {error.strerror or error}; what was finished before stays, "
            "and the same sweep goes on from there"
        ) from error
    except BaseException:
        partial.unlink(missing_ok=True)
        raise


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def opened(path: Path, columns: Sequence[str]) -> Iterator[Any]:
    """A Parquet file of a sweep that has these columns; all that is wrong is a ResultsError."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path, page_checksum_verification=True) as file:
            _check_schema(path, file.schema_arrow, columns)
            yield file
    except FileNotFoundError:
        raise ResultsError(f"{path}: is missing") from None
    except ResultsError:
        raise
    except (pa.ArrowException, OSError, ValueError) as error:
        raise ResultsError(f"{path}: not a readable Parquet file: {_first_line(error)}") from None


def read_parquet(path: Path, columns: Sequence[str]) -> Any:
    """These columns of a file, as a table."""
    with opened(path, columns) as file:
        return file.read(columns=list(columns))


def columns_of(path: Path) -> list[str]:
    with opened(path, ()) as file:
        return list(file.schema_arrow.names)


def _check_schema(path: Path, schema: Any, columns: Sequence[str]) -> None:
    metadata = schema.metadata or {}
    stated = metadata.get(b"vringlab.schema", b"")
    if not stated.isdigit():
        raise ResultsError(f"{path}: not a file of a sweep: it states no schema")
    check_version(path, int(stated))
    missing = [name for name in columns if name not in schema.names]
    if missing:
        raise ResultsError(f"{path}: no column {missing[0]}: {', '.join(schema.names)[:200]}")


def check_version(path: Path, stated: int) -> None:
    if stated > SCHEMA:
        raise ResultsError(
            f"{path}: schema {stated} is newer than {SCHEMA}, the newest that this version reads"
        )


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0][:200]
