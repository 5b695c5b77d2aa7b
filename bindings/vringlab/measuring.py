"""Measures builds of the simulator in processes of their own: results, instructions, wall time."""

import json
import platform
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vringlab import _native
from vringlab.access_plan import native_plan
from vringlab.callgrind import (
    CrashedError,
    UnmeasurableError,
    describe,
    fixed_environment,
    instructions_by_call,
    version,
)
from vringlab.scenario import Scenario

COUNTED = "vringlab::sim::run(vringlab::sim::Scenario const&, vringlab::sim::RunControl*)"
"""What instructions are counted in: all of one simulated run, nothing of Python."""


@dataclass(frozen=True, slots=True)
class Build:
    """A build of the simulator, as a command that takes a request and prints JSON."""

    command: tuple[str, ...]
    label: str = "this build"


@dataclass(frozen=True, slots=True)
class Measured:
    """What one scenario came to in a measuring process."""

    packets: int
    ns: int
    """Wall time of all its runs."""
    metrics: dict[str, int | str]
    """All simulated results that are whole numbers and not 0, and digests of the ledgers."""


@dataclass(frozen=True, slots=True)
class Toolchain:
    """What a count of instructions depends on besides the source."""

    compiler: str
    machine: str
    libc: str
    valgrind: str


def this_build() -> Build:
    """The build that this package has."""
    return build_at(Path(_native.__file__))


def build_at(path: Path) -> Build:
    """The build whose module _native is `path`, or lies in that folder, such as another
    environment's site-packages/vringlab."""
    found = [path] if path.is_file() else sorted(path.glob("_native.*.so"))
    if len(found) != 1:
        raise FileNotFoundError(f"{path}: must be a module _native.*.so, or a folder with one")
    runner = Path(__file__).with_name("measured_run.py")
    # -I: the folder of the script is not searched; -S: nothing but the standard library.
    return Build((sys.executable, "-I", "-S", str(runner), str(found[0].resolve())), str(path))


def simulate(build: Build, scenario: Scenario, *, times: int = 1) -> Measured:
    """One process that runs `scenario` so many times.

    >>> import vringlab as vl
    >>> simulate(this_build(), vl.Scenario(packets=1000)).metrics["packets"]
    1000
    """
    asked = request([scenario], times=times, metrics=True)
    answer = _answers(build, _run([*build.command, asked]))[1][0]
    return Measured(answer["packets"], answer["ns"], answer["metrics"])


def times_for(build: Build, scenario: Scenario, *, seconds: float = 0.1) -> int:
    """How often a scenario must run to take so long."""
    one_ns = simulate(build, scenario, times=3).ns / 3
    return max(1, round(1e9 * seconds / one_ns))


def instructions_per_packet(
    build: Build, scenarios: Sequence[Scenario]
) -> tuple[list[float], Toolchain]:
    """Of each scenario, by callgrind; and what the counts depend on.

    Each is run twice, the second time twice as long: the difference has no start-up and no set-up.
    """
    both = [s for scenario in scenarios for s in (scenario, doubled(scenario))]
    command = [*build.command, request(both, times=1, metrics=False)]
    output, counts = instructions_by_call(command, COUNTED)
    compiler, answers = _answers(build, output)
    if len(counts) != len(answers):
        raise UnmeasurableError(
            f"{build.label}: callgrind saw {len(counts)} runs of {len(answers)}"
        )
    packets = [answer["packets"] for answer in answers]
    more = range(0, len(both), 2)
    per_packet = [(counts[i + 1] - counts[i]) / (packets[i + 1] - packets[i]) for i in more]
    return per_packet, _toolchain(compiler)


def doubled(scenario: Scenario) -> Scenario:
    """The scenario, twice as long.

    >>> doubled(Scenario(packets=1000))
    Scenario(packets=2000)
    """
    if scenario.workload in ("stream", "rr"):
        return scenario.replace(stream_ms=2 * scenario.stream_ms)
    return scenario.replace(packets=2 * scenario.packets)


def native_fields(scenario: Scenario) -> dict[str, Any]:
    """The fields that differ from the defaults, as the simulator calls them.

    A build that is older or newer than this one must know no others.

    >>> native_fields(Scenario(packets=10, costs={"smp_mb": 7}))
    {'costs': {'smp_mb': 7.0}, 'packets': 10}
    """
    changes = scenario.changes()
    values: dict[str, Any] = {}
    for name, value in changes.items():
        if name == "plan":
            values[name] = _native_plan_fields(scenario)
        elif name == "blk":
            values[name] = value.changes()
        else:
            values[name] = dict(value) if name == "costs" else value
    return values


def _native_plan_fields(scenario: Scenario) -> dict[str, Any]:
    now, default = native_plan(scenario.plan), _native.AccessPlan()
    names = [name for name in dir(now) if not name.startswith("_")]
    changed = [name for name in names if getattr(now, name) != getattr(default, name)]
    values = {name: getattr(now, name) for name in changed}
    return {n: value if isinstance(value, bool) else value.name for n, value in values.items()}


def request(scenarios: Sequence[Scenario], *, times: int, metrics: bool) -> str:
    """What a build's command takes: run each scenario so many times."""
    listed = [native_fields(scenario) for scenario in scenarios]
    return json.dumps({"scenarios": listed, "times": times, "metrics": metrics})


def _run(command: Sequence[str]) -> str:
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            command,
            cwd=folder,
            env=fixed_environment(),
            capture_output=True,
            text=True,
            check=False,
        )
    if done.returncode:
        raise CrashedError(f"ended with {describe(done.returncode)}{last_line(done.stderr)}")
    return done.stdout


def last_line(text: str) -> str:
    lines = text.strip().splitlines()
    return f": {lines[-1]}" if lines else ""


def _answers(build: Build, output: str) -> tuple[str, list[dict[str, Any]]]:
    try:
        answer = json.loads(output)
        return str(answer["compiler"]), list(answer["answers"])
    except (json.JSONDecodeError, KeyError, TypeError):
        raise CrashedError(f"{build.label}: printed no results: {output!r:.80}") from None


def _toolchain(compiler: str) -> Toolchain:
    libc = "".join(platform.libc_ver())
    return Toolchain(compiler, _machine(), libc, version())


def _machine() -> str:
    """With the one extension that makes the C library choose other copies under valgrind."""
    try:
        avx2 = " avx2 " in Path("/proc/cpuinfo").read_text().replace("\n", " ")
    except OSError:
        avx2 = False
    return platform.machine() + ("+avx2" if avx2 else "")
