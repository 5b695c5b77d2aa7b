"""Where a run of the simulator itself spends its time: by perf, or else by callgrind.

These are real times and instructions of the simulator, not simulated ones.
"""

import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from vringlab._fields import one_of
from vringlab.callgrind import CrashedError, UnmeasurableError, fixed_environment, run_callgrind
from vringlab.execute import as_scenario
from vringlab.flame import Stacks
from vringlab.measuring import COUNTED, Build, request, this_build, times_for
from vringlab.scenario import Scenario

TOOLS = ("auto", "perf", "callgrind")
_OURS = re.compile(r"(\S.* )?vringlab::(?!bindings)")
"""Frames of the simulator. perf loses those beyond a large stack, so any of them will do."""
_PERF_SECONDS = 2.0
_PERF_HERTZ = 997
_FEWEST_SAMPLES = 50
_CALLERS = 20
_SEPARATED = ("*vringlab::*", "*std::*", "operator*", "mem*", "__mem*", "malloc", "free", "_int_*")
"""Functions that callgrind keeps apart by their callers; Python's would take minutes."""


@dataclass(frozen=True, slots=True)
class Profile:
    """Stacks of a run of the simulator, outermost frame first."""

    tool: str
    """perf or callgrind."""
    unit: str
    """samples or instructions."""
    stacks: Stacks
    note: str
    """What to know when reading it: why it was not perf, what was left out."""


def profile(scenario: Scenario, *, tool: str = "auto", build: Build | None = None) -> Profile:
    """Runs `scenario` under a profiler. UnmeasurableError where the tool does not work here.

    auto is perf, which needs no counters of the machine, or callgrind where perf does not work.
    perf runs it for about two seconds; callgrind once, some fifty times slower, so few packets do.
    """
    as_scenario("scenario", scenario)
    chosen = one_of("tool", tool, TOOLS)
    target = build or this_build()
    if chosen == "callgrind":
        return _by_callgrind(target, scenario, "")
    try:
        return _by_perf(target, scenario)
    except UnmeasurableError as error:
        if chosen == "perf":
            raise
        return _by_callgrind(target, scenario, f"not by perf: {error}; ")


def _by_perf(build: Build, scenario: Scenario) -> Profile:
    if shutil.which("perf") is None:
        raise UnmeasurableError("there is no perf here")
    times = times_for(build, scenario, seconds=_PERF_SECONDS)
    command = [*build.command, request([scenario], times=times, metrics=False)]
    options = ["-q", "-F", str(_PERF_HERTZ), "--call-graph", "dwarf,16384"]
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "perf.data"
        _tool(["perf", "record", *options, "-o", str(data), "--", *command])
        text = _tool(["perf", "script", "-i", str(data), "-F", "ip,sym"])
    stacks, outside = perf_stacks(text)
    seen = sum(stacks.values())
    if seen < _FEWEST_SAMPLES:
        raise UnmeasurableError(f"perf saw {seen} samples of the simulator, {outside} of the rest")
    note = f"{outside} samples outside of the simulator left out"
    return Profile("perf", "samples", stacks, note)


def _tool(command: Sequence[str]) -> str:
    done = subprocess.run(
        command, env=fixed_environment(), capture_output=True, text=True, check=False
    )
    if done.returncode:
        said = done.stderr.strip().splitlines()
        raise UnmeasurableError(f"{' '.join(command[:2])}: {said[0] if said else 'failed'}")
    return done.stdout


def perf_stacks(text: str) -> tuple[Stacks, int]:
    """The stacks of `perf script -F ip,sym`, innermost frame first there, from the simulator's
    outermost frame inwards; and how many samples had none.

    >>> perf_stacks("\\t1 memcpy\\n\\t2 vringlab::sim::run\\n\\t3 main\\n\\n\\t1 main\\n\\n")
    ({('run', 'memcpy'): 1}, 1)
    """
    stacks: Stacks = {}
    outside = 0
    for sample in re.split(r"\n\s*\n", text.strip("\n")):
        frames = [line.split(maxsplit=1)[-1] for line in sample.splitlines() if line.strip()]
        stack = _within_run([frame.removesuffix(" (inlined)") for frame in frames])
        if stack:
            stacks[stack] = stacks.get(stack, 0) + 1
        elif frames:
            outside += 1
    return stacks, outside


def _by_callgrind(build: Build, scenario: Scenario, note: str) -> Profile:
    command = [*build.command, request([scenario], times=1, metrics=False)]
    separated = [f"--separate-callers{_CALLERS}={pattern}" for pattern in _SEPARATED]
    with tempfile.TemporaryDirectory() as folder:
        where = Path(folder)
        run_callgrind(command, [f"--toggle-collect={COUNTED}", *separated], where)
        stacks = callgrind_stacks((where / "out").read_text(errors="replace").splitlines())
    if not stacks:
        raise CrashedError("callgrind saw no run of the simulator")
    return Profile("callgrind", "instructions", stacks, f"{note}instructions, not time")


def callgrind_stacks(lines: Iterable[str]) -> Stacks:
    """The stacks of a profile whose functions are kept apart by their callers, and what each
    executed itself. A function that is not kept apart is under "elsewhere".

    >>> profile = ["fn=(1) f'vringlab::sim::run(int)'main", "1 5", "calls=1 2", "2 70", "+1 6"]
    >>> callgrind_stacks(profile)
    {('run', 'f'): 11}
    """
    names: dict[str, str] = {}
    stacks: Stacks = {}
    stack: tuple[str, ...] = ()
    inclusive = False
    for line in lines:
        if match := re.match(r"c?fn=\((\d+)\)(?: (.*))?$", line):
            names.setdefault(match[1], match[2] or "?")
            if line.startswith("fn="):
                frames = [f for f in names[match[1]].split("'") if not f.isdigit()]
                stack = _within_run(frames) or ("elsewhere", short_name(frames[0]))
        elif line.startswith("calls="):
            inclusive = True  # the next line has what the callee took
        elif match := re.match(r"[+\-*\d]\S* (\d+)$", line):
            if not inclusive:
                stacks[stack] = stacks.get(stack, 0) + int(match[1])
            inclusive = False
    return stacks


def _within_run(frames: Sequence[str]) -> tuple[str, ...]:
    """Innermost first to outermost first, from the simulator's outermost frame on."""
    ours = [i for i, frame in enumerate(frames) if _OURS.match(frame)]
    return tuple(short_name(frame) for frame in reversed(frames[: ours[-1] + 1])) if ours else ()


def short_name(name: str) -> str:
    """A C++ name without parameters, namespaces of the project and what templates are made of.

    >>> short_name("vringlab::NetTx<vringlab::sim::ModelAccess, int>::step(int)")
    'NetTx<>::step'
    >>> short_name("void vringlab::sim::collect<int>(int)")
    'collect<>'
    """
    kept: list[str] = []
    depth = 0
    for character in name.replace("(anonymous namespace)::", ""):
        if character == "(" and depth == 0 and not "".join(kept).endswith("operator"):
            break
        depth -= character == ">" and depth > 0
        if depth == 0:
            kept.append(character)
        depth += character == "<"
    plain = "".join(kept).replace("vringlab::", "").replace("sim::", "").strip()
    return plain.rpartition(" ")[2] if plain.startswith(("void ", "bool ")) else plain or "?"
