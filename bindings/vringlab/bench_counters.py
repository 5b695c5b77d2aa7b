"""Benchmarks by instructions instead of time, and two builds of them in turns."""

import json
import re
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from vringlab.bench import parse, print_json
from vringlab.callgrind import UnmeasurableError, part_totals, run_callgrind
from vringlab.gates import WALL_AT_LEAST, WALL_P_BELOW, interleaved
from vringlab.permutation import PairedTest, paired_test
from vringlab.results import ResultsError

_LOOP = ("benchmark::State::StartKeepRunning()", "benchmark::State::FinishKeepRunning()")
"""Between them is the timed loop."""
_PERF = "INSTRUCTIONS"
_SHORT = "--benchmark_min_time=0.05"  # what starting and stopping takes must not show


@dataclass(frozen=True, slots=True)
class Counted:
    """Instructions of one iteration of a benchmark, its set-up left out."""

    benchmark: str
    instructions: float
    by: str
    """perf or callgrind."""


@dataclass(frozen=True, slots=True)
class Against:
    """One benchmark of two builds."""

    benchmark: str
    test: PairedTest

    @property
    def slower(self) -> bool:
        return self.test.slower(at_least=WALL_AT_LEAST, p_below=WALL_P_BELOW)


def benchmark_names(executable: Path, arguments: Sequence[str]) -> list[str]:
    """Those that the arguments' filter leaves. ResultsError where there are none."""
    command = [str(executable.resolve()), "--benchmark_list_tests", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise ResultsError(f"{executable.name}: ended with status {done.returncode}")
    names = [line for line in done.stdout.splitlines() if line and not line.startswith("Failed")]
    if not names:
        raise ResultsError(f"{executable.name}: no benchmark matches")
    return names


def only(name: str) -> str:
    """The filter that leaves one benchmark.

    >>> only("ring/batch:64")
    '--benchmark_filter=^ring/batch:64$'
    >>> only("ring<int>(1.5)")
    '--benchmark_filter=^ring<int>\\\\(1\\\\.5\\\\)$'
    """
    # Not re.escape: the benchmarks' expressions refuse an escaped character that needs none.
    return "--benchmark_filter=^" + re.sub(r"([.^$*+?()\[\]{}|\\])", r"\\\1", name) + "$"


def counted(executable: Path, arguments: Sequence[str]) -> Iterator[Counted]:
    """Instructions of an iteration of each benchmark: by perf where its library and the machine
    have counters, else by callgrind, which is some fifty times slower than the benchmark."""
    for name in benchmark_names(executable, arguments):
        by_perf = count_by_perf(executable, name)
        if by_perf is not None:
            yield Counted(name, by_perf, "perf")
        else:
            yield Counted(name, count_by_callgrind(executable, name), "callgrind")


def count_by_perf(executable: Path, name: str) -> float | None:
    """None where the benchmarks' library or the machine has no counters."""
    arguments = [only(name), f"--benchmark_perf_counters={_PERF}"]
    (benchmark,) = parse(print_json(executable, arguments, quiet=True)) or [{}]
    value = benchmark.get(_PERF)
    return float(value) if isinstance(value, (int, float)) and value > 0 else None


def count_by_callgrind(executable: Path, name: str) -> float:
    """Of the timed loop alone: counts are dumped as it begins and as it ends."""
    command = [str(executable.resolve()), only(name), "--benchmark_format=json", _SHORT]
    with tempfile.TemporaryDirectory() as folder:
        dumps = [f"--dump-before={function}" for function in _LOOP]
        benchmarks = parse(run_callgrind(command, dumps, Path(folder)))
        totals = part_totals(Path(folder))
    # The loop runs until it took long enough; the last of its runs is the one reported.
    if len(totals) < 2 or len(totals) % 2:
        raise UnmeasurableError(f"{name}: callgrind saw no loop: has the library symbols?")
    return totals[-1] / float(benchmarks[-1]["iterations"])


def against(
    executable: Path, other: Path, arguments: Sequence[str], *, rounds: int
) -> Iterator[Against]:
    """Each benchmark of `executable` against that of `other`; they run in turns."""
    known = set(benchmark_names(other, arguments))
    for name in benchmark_names(executable, arguments):
        if name not in known:
            continue
        old, new = interleaved(
            lambda name=name: _real_time(other, name, arguments),  # type: ignore[misc]
            lambda name=name: _real_time(executable, name, arguments),  # type: ignore[misc]
            rounds=rounds,
        )
        yield Against(name, paired_test(old, new))


def _real_time(executable: Path, name: str, arguments: Sequence[str]) -> float:
    benchmarks = parse(print_json(executable, [*arguments, only(name)]))
    try:
        return float(benchmarks[-1]["real_time"])
    except (IndexError, KeyError, TypeError, ValueError):
        shown = json.dumps(benchmarks)
        raise ResultsError(f"{executable}: {name}: no real_time: {shown:.80}") from None
