"""Runs the C++ benchmarks and holds their counters against their goals."""

import json
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from vringlab.results import ResultsError

_GOAL = "goal_"


class Measured(NamedTuple):
    """One counter of one benchmark, and the goal beside it in the source."""

    benchmark: str
    counter: str
    value: float
    goal: float

    @property
    def met(self) -> bool:
        """Times and ratios are to stay below their goal, rates to exceed it."""
        at_most = self.counter == "ns" or self.counter.endswith(("_ns", "ratio"))
        return self.value <= self.goal if at_most else self.value >= self.goal


def find_executable(folder: Path) -> Path:
    """The benchmarks of a checkout."""
    found = sorted((folder / "build").glob("*/vringlab_bench"))
    if not found:
        raise FileNotFoundError("no build/*/vringlab_bench here: `./lab bench` builds it")
    return found[-1]


def run_benchmarks(executable: Path, arguments: Sequence[str]) -> list[Measured]:
    """Runs them and reads what they print."""
    return [m for b in parse(print_json(executable, arguments)) for m in measured(b)]


def print_json(executable: Path, arguments: Sequence[str], *, quiet: bool = False) -> str:
    """What they print as JSON; quiet: what they say besides is not shown."""
    command = [str(executable.resolve()), "--benchmark_format=json", *arguments]
    said = subprocess.DEVNULL if quiet else None
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=said, text=True, check=False)
    if done.returncode:
        raise ResultsError(f"{executable.name}: ended with status {done.returncode}")
    return done.stdout


def parse(text: str) -> list[dict[str, Any]]:
    """The benchmarks of Google Benchmark's JSON."""
    try:
        benchmarks = json.loads(text)["benchmarks"]
    except (json.JSONDecodeError, KeyError, TypeError):
        raise ResultsError("the benchmarks printed no JSON of Google Benchmark") from None
    return [b for b in benchmarks if isinstance(b, dict)]


def measured(benchmark: dict[str, Any]) -> Iterable[Measured]:
    """The counters that have a goal."""
    for name, goal in benchmark.items():
        counter = name.removeprefix(_GOAL)
        if counter != name and counter in benchmark:
            yield Measured(str(benchmark["name"]), counter, benchmark[counter], goal)
