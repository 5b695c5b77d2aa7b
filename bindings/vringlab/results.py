"""Files of results: tables that are the same bit for bit wherever they are made, and manifests.

A folder of results holds tables, figures and one `manifest.json`, which says what made them.
"""

import csv
import hashlib
import io
import json
import math
import platform
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from vringlab import _native

MANIFEST = "manifest.json"
SCHEMA = 1
"""Of manifests: a newer one is refused."""
FIGURES = frozenset({".png", ".svg", ".pdf"})
"""Suffixes of files whose bytes depend on fonts and libraries: told apart by name only."""


class ResultsError(ValueError):
    """A file of results that can't be read; the message begins with its name and line."""


@dataclass(frozen=True, slots=True)
class Table:
    """A CSV file: every cell a str, as it stands there."""

    name: str
    """Of the file, for messages."""
    columns: tuple[str, ...]
    rows: tuple[dict[str, str], ...]

    def numbers(self, column: str) -> NDArray[np.float64]:
        """The column as numbers, shape (len(rows),); an empty cell is a NaN."""
        if column not in self.columns:
            raise ResultsError(f"{self.name}: no column {column}: {', '.join(self.columns)}")
        cells = enumerate((row[column] for row in self.rows), 2)
        return np.array([self._number(line, column, cell) for line, cell in cells], dtype=float)

    def _number(self, line: int, column: str, cell: str) -> float:
        try:
            return float(cell) if cell else math.nan
        except ValueError:
            raise ResultsError(
                f"{self.name}, row {line}: {column} = {cell!r:.80}: must be a number"
            ) from None

    def __repr__(self) -> str:
        return f"Table({self.name}: {len(self.rows)} rows of {', '.join(self.columns)})"


def write_table(path: Path, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Writes a CSV file with one line a row, LF at its end.

    Floats have six significant digits, so that the last bit of a library function doesn't matter;
    integers are exact; None is an empty cell. A NaN or an infinity is refused.
    """
    lines = [_cells(path.name, columns, row) for row in rows]
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([columns, *lines])
    _write(path, text.getvalue())


def read_table(path: Path, columns: Sequence[str] = ()) -> Table:
    """Reads a CSV file with a header; `columns` must be among its columns."""
    lines = list(_parse(path))
    if not lines:
        raise ResultsError(f"{path.name}: empty: a header is missing")
    header = lines[0]
    missing = [column for column in columns if column not in header]
    if missing or len(set(header)) < len(header):
        wrong = f"no column {missing[0]}" if missing else "a column stands there twice"
        raise ResultsError(f"{path.name}, row 1: {wrong}: {', '.join(header)}")
    for number, line in enumerate(lines, 1):
        if len(line) != len(header):
            expected = f"must be {len(header)}, as in the header"
            raise ResultsError(f"{path.name}, row {number}: {len(line)} cells: {expected}")
    rows = tuple(dict(zip(header, line, strict=True)) for line in lines[1:])
    return Table(path.name, tuple(header), rows)


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """What made a folder of results."""

    version: str
    """Of vringlab."""
    command: str
    seed: int | None
    data: dict[str, str]
    """SHA-256 of each file by name; figures are left out."""
    maker: dict[str, Any]
    """Who made it and when: commit, dirty, compiler, cpu, kernel, python, wall_seconds."""
    schema: int = SCHEMA
    """Of the manifest itself; one that states none is of the first."""
    sweep: dict[str, Any] | None = None
    """Of a folder that a sweep wrote: what was swept."""

    def same_data(self, other: Self) -> bool:
        """Equal but for who made it."""
        mine, theirs = asdict(self), asdict(other)
        return all(mine[key] == theirs[key] for key in mine if key != "maker")


def write_manifest(
    folder: Path,
    *,
    command: str,
    seed: int | None = None,
    wall_seconds: float = 0.0,
    files: Iterable[str] | None = None,
    sweep: dict[str, Any] | None = None,
) -> Manifest:
    """Writes `manifest.json` for the files that the folder now has, or for those named."""
    named = files_of(folder) if files is None else files
    manifest = Manifest(
        version=_native.version,
        command=command,
        seed=seed,
        data={name: hash_of(folder / name) for name in named if is_data(name)},
        maker={**_commit(), **_machine(), "wall_seconds": round(wall_seconds, 1)},
        sweep=sweep,
    )
    fields = asdict(manifest)
    if sweep is None:
        del fields["sweep"]
    _write(folder / MANIFEST, json.dumps(fields, indent=2) + "\n")
    return manifest


def read_manifest(folder: Path) -> Manifest:
    """Reads `manifest.json`, defensively."""
    path = folder / MANIFEST
    try:
        fields = json.loads(_text(path))
    except (json.JSONDecodeError, RecursionError) as error:
        raise ResultsError(f"{path.name}: not JSON: {error}") from None
    stated = fields.get("schema", 1) if isinstance(fields, dict) else 1
    if isinstance(stated, int) and stated > SCHEMA:
        newest = f"newer than {SCHEMA}, the newest that this version reads"
        raise ResultsError(f"{path.name}: schema {stated} is {newest}")
    names = set(Manifest.__dataclass_fields__)
    if not isinstance(fields, dict) or not names - _OPTIONAL <= set(fields) <= names:
        raise ResultsError(f"{path.name}: must be an object with {', '.join(sorted(names))}")
    for name in ("data", "maker"):
        if not isinstance(fields[name], dict):
            raise ResultsError(f"{path.name}: {name} must be an object")
    return Manifest(**fields)


_OPTIONAL = {"schema", "sweep"}


def files_of(folder: Path) -> list[str]:
    """The names of all files in a folder and below, relative to it."""
    return sorted(p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file())


def is_data(name: str) -> bool:
    """Is this a file that is compared by its bytes?"""
    return name != MANIFEST and Path(name).suffix not in FIGURES


def _cells(name: str, columns: Sequence[str], row: Sequence[object]) -> list[str]:
    if len(row) != len(columns):
        raise ValueError(
            f"{name}: a row of {len(row)} cells, but {len(columns)} columns: {row!r:.80}"
        )
    return [_cell(name, column, value) for column, value in zip(columns, row, strict=True)]


def _cell(name: str, column: str, value: object) -> str:
    if not isinstance(value, (float, np.floating)):
        return "" if value is None else str(value)
    if not math.isfinite(value):
        raise ValueError(f"{name}: {column} = {value}: must be finite")
    return format(float(value) or 0.0, ".6g")  # no -0


def _write(path: Path, text: str) -> None:
    """All of the file or nothing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(path.name + ".part")
    partial.write_text(text, encoding="utf-8", newline="")
    partial.replace(path)


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise ResultsError(
            f"{path.name}: not UTF-8: {error.reason} at byte {error.start}"
        ) from None


def _parse(path: Path) -> Iterable[list[str]]:
    reader = csv.reader(io.StringIO(_text(path), newline=""), strict=True)
    try:
        yield from reader
    except csv.Error as error:
        raise ResultsError(f"{path.name}, line {reader.line_num}: {error}") from None


def hash_of(path: Path) -> str:
    """SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _machine() -> dict[str, str]:
    return {
        "compiler": _native.compiler,
        "cpu": _cpu(),
        "kernel": platform.release(),
        "python": platform.python_version(),
    }


def _cpu() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.machine()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def _commit() -> dict[str, Any]:
    """The commit of the current folder and whether files differ from it, results apart."""
    changes = _git("status", "--porcelain", "--", ".", ":(exclude)results")
    return {
        "commit": _git("rev-parse", "HEAD"),
        "dirty": bool(changes) if changes is not None else None,
    }


def _git(*arguments: str) -> str | None:
    """What git prints, None where there is no repository."""
    try:
        done = subprocess.run(["git", *arguments], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout.strip()
