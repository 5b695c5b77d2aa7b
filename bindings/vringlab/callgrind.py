"""Counts instructions with callgrind, in an environment that is always the same."""

import re
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path


class UnmeasurableError(ValueError):
    """What was to be measured can't be measured on this machine; the message says why."""


class CrashedError(ValueError):
    """A measured process ended as it should not; the message says how."""


def fixed_environment() -> dict[str, str]:
    """Of every process that is measured: the size of the environment moves the stack."""
    return {"PATH": "/usr/bin:/bin", "LC_ALL": "C", "PYTHONHASHSEED": "0", "TZ": "UTC"}


@cache
def version() -> str:
    """Of valgrind, as in "3.19.0"; UnmeasurableError where there is none."""
    if shutil.which("valgrind") is None:
        raise UnmeasurableError("instructions are counted by callgrind: there is no valgrind here")
    done = subprocess.run(["valgrind", "--version"], capture_output=True, text=True, check=True)
    return done.stdout.strip().removeprefix("valgrind-")


def without_aslr(command: Sequence[str]) -> list[str]:
    """The command with its addresses not randomised, where that is allowed."""
    return [*_setarch(), *command]


@cache
def _setarch() -> tuple[str, ...]:
    try:
        subprocess.run(["setarch", "-R", "true"], capture_output=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return ()
    return ("setarch", "-R")


def instructions_by_call(command: Sequence[str], function: str) -> tuple[str, list[int]]:
    """What the command prints, and the instructions of each call of `function`, in order.

    The function is named as C++ prints it, with its parameters, and must have a symbol.
    """
    options = [f"--toggle-collect={function}", f"--dump-after={function}"]
    with tempfile.TemporaryDirectory() as folder:
        output = run_callgrind(command, options, Path(folder))
        return output, part_totals(Path(folder))


def part_totals(folder: Path) -> list[int]:
    """What callgrind counted between dumps, in order; the part until the end left out."""
    parts = [p for p in folder.glob("out.*") if p.suffix[1:].isdigit()]
    return [_totals(part) for part in sorted(parts, key=lambda p: int(p.suffix[1:]))]


def run_callgrind(command: Sequence[str], options: Sequence[str], folder: Path) -> str:
    """What the command prints; its profile is `folder`/out. CrashedError where it fails."""
    version()
    tool = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={folder / 'out'}", *options]
    done = subprocess.run(
        without_aslr([*tool, *command]),
        cwd=folder,
        env=fixed_environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        said = [line for line in done.stderr.splitlines() if line and not line.startswith("==")]
        why = f": {said[-1]}" if said else ""
        raise CrashedError(f"under callgrind it ended with {describe(done.returncode)}{why}")
    return done.stdout


def describe(status: int) -> str:
    """An exit status as subprocess has it.

    >>> describe(-11), describe(3)
    ('signal 11', 'status 3')
    """
    return f"signal {-status}" if status < 0 else f"status {status}"


def _totals(profile: Path) -> int:
    match = re.search(r"^totals: (\d+)$", profile.read_text(), re.MULTILINE)
    if match is None:
        raise UnmeasurableError(f"{profile.name}: callgrind wrote no totals")
    return int(match[1])
