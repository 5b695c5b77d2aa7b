"""Runs the experiments and writes results, or checks that it would write the same."""

import importlib
import importlib.resources
import shutil
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

from vringlab.results import MANIFEST, files_of, is_data, read_manifest, write_manifest
from vringlab.scoreboard import read_scores, write_scores
from vringlab.validation import TABLE, write_combined

VALIDATION = "validation"
"""The folder of results that answers for all experiments together."""


class Outcome(NamedTuple):
    """One experiment that was run."""

    name: str
    seconds: float
    problems: tuple[str, ...]
    """What differs from the results that were there, or which claim failed; none if all is well."""


def experiments() -> tuple[str, ...]:
    """The names of all experiments: folders with a run.py."""
    folder = importlib.resources.files("vringlab") / "experiments"
    if not folder.is_dir():
        return ()
    return tuple(sorted(f.name for f in folder.iterdir() if (f / "run.py").is_file()))


def chosen(only: Sequence[str]) -> tuple[str, ...]:
    """The experiments named, all if none is."""
    known = experiments()
    for name in only:
        if name not in known:
            raise ValueError(f'only = "{name}": must be one of {", ".join(known)}')
    return tuple(name for name in known if not only or name in only)


def reproduce(name: str, results: Path, *, check: bool) -> Outcome:
    """Runs one experiment and writes results/NAME; with `check` only compares.

    The folder is replaced once the run is over: what it had before is either all there or gone.
    """
    return _made(name, results, check, lambda fresh: _run(name, fresh, check))


def combine(results: Path, *, check: bool) -> Outcome:
    """Writes results/validation, the tables of all experiments in one and the scoreboard that they
    make; with `check` compares."""

    def make(fresh: Path) -> tuple[str, ...]:
        write_combined(fresh / TABLE, results)
        write_scores(fresh, read_scores(results))
        write_manifest(fresh, command="vringlab reproduce")
        return ()

    return _made(VALIDATION, results, check, make)


def _made(
    name: str, results: Path, check: bool, make: Callable[[Path], tuple[str, ...]]
) -> Outcome:
    start = time.monotonic()
    results.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".", dir=None if check else results) as folder:
        fresh = Path(folder) / name
        fresh.mkdir()
        problems = make(fresh)
        if not check:
            _replace(results / name, fresh)
        elif not problems:
            problems = tuple(differences(results / name, fresh))
    return Outcome(name, time.monotonic() - start, problems)


def differences(committed: Path, fresh: Path) -> Iterable[str]:
    """How two folders of one experiment's results differ. Of figures only the names count: what
    they show is in the tables. Nor does it count who made them."""
    if not committed.is_dir():
        yield f"{committed}: no such folder"
        return
    for name in sorted({*files_of(committed), *files_of(fresh)}):
        yield from _difference(name, committed / name, fresh / name)


def _run(name: str, folder: Path, check: bool) -> tuple[str, ...]:
    """Problems: the claims that failed."""
    module = importlib.import_module(f"vringlab.experiments.{name}.run")
    start = time.monotonic()
    try:
        module.main(folder, check)
    except AssertionError as failed:
        problems: tuple[str, ...] = (f"a claim failed: {failed}",)
    else:
        problems = ()
    _write_manifest(module, name, folder, time.monotonic() - start)
    return problems


def _write_manifest(module: ModuleType, name: str, folder: Path, seconds: float) -> None:
    command = f"vringlab reproduce --only {name}"
    seed = getattr(module, "SEED", None)
    write_manifest(folder, command=command, seed=seed, wall_seconds=seconds)


def _replace(old: Path, new: Path) -> None:
    if old.exists():
        shutil.rmtree(old)
    new.rename(old)


def _difference(name: str, committed: Path, fresh: Path) -> Iterable[str]:
    if not fresh.exists():
        yield f"{committed}: is not made any more"
    elif not committed.exists():
        yield f"{committed}: is missing"
    elif name == MANIFEST:
        if not read_manifest(committed.parent).same_data(read_manifest(fresh.parent)):
            yield f"{committed}: another version, command, seed or data"
    elif is_data(name) and committed.read_bytes() != fresh.read_bytes():
        yield f"{committed}: {_first_difference(committed.read_bytes(), fresh.read_bytes())}"


def _first_difference(committed: bytes, fresh: bytes) -> str:
    pairs = zip(committed.splitlines(), fresh.splitlines(), strict=False)
    for number, (old, new) in enumerate(pairs, 1):
        if old != new:
            return f"line {number}: {new.decode(errors='replace')!r} is made now"
    return "another number of lines, or other line ends"
