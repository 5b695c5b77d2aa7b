"""Gates: holds a build to what was recorded of another.

Simulated results must be exactly equal, instructions a packet within 1 %. Wall time is only ever
compared between two builds that run in turns, and fails from 5 % on with p < 0.01.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import Enum, IntEnum
from pathlib import Path

from vringlab.callgrind import CrashedError, UnmeasurableError
from vringlab.gate_file import GateFile, Metrics, default_scenarios, read_gate_file
from vringlab.measuring import (
    Build,
    Toolchain,
    instructions_per_packet,
    simulate,
    times_for,
)
from vringlab.permutation import PairedTest, paired_test
from vringlab.scenario import Scenario

INSTRUCTIONS_WITHIN = 0.01
"""Of the recorded count."""
WALL_AT_LEAST, WALL_P_BELOW = 0.05, 0.01
"""Slower by so much, and by chance less often than that, is a regression."""
FEWEST_ROUNDS = 8
"""Of seven pairs the smallest p there can be is 1/128; of eight it leaves room below 0.01."""


class Verdict(Enum):
    """What became of one check."""

    PASSED = "passed"
    IMPROVED = "improved"
    """Better by more than the tolerance: passes, but recording anew keeps the gate tight."""
    REGRESSED = "REGRESSED"
    MISSING = "NO BASELINE"
    UNMEASURABLE = "NOT MEASURABLE"
    CRASHED = "CRASHED"


class GateStatus(IntEnum):
    """How `vringlab gate` ends. 2 is bad input, as of every command."""

    PASSED = 0
    REGRESSION = 1
    NOTHING_RUN = 3
    MISSING_BASELINE = 4
    CRASH = 5
    UNMEASURABLE = 6


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was held against its baseline."""

    scenario: str
    kind: str
    """simulated, instructions or wall."""
    verdict: Verdict
    detail: str
    """What was measured, against what."""


def status_of(checks: Sequence[Check]) -> GateStatus:
    """The worst of them: a crash before a regression, before what could not be checked.

    >>> status_of([])
    <GateStatus.NOTHING_RUN: 3>
    """
    verdicts = {check.verdict for check in checks}
    for verdict, status in (
        (Verdict.CRASHED, GateStatus.CRASH),
        (Verdict.REGRESSED, GateStatus.REGRESSION),
        (Verdict.UNMEASURABLE, GateStatus.UNMEASURABLE),
        (Verdict.MISSING, GateStatus.MISSING_BASELINE),
    ):
        if verdict in verdicts:
            return status
    return GateStatus.PASSED if checks else GateStatus.NOTHING_RUN


# --- record ---------------------------------------------------------------------------------------


def record(
    build: Build, scenarios: Iterable[tuple[str, Scenario]], old: GateFile, *, instructions: bool
) -> GateFile:
    """`old` with what the scenarios come to now, those of its other toolchains' counts dropped
    whose scenarios came to something else."""
    chosen = dict(scenarios)
    metrics = {name: simulate(build, scenario).metrics for name, scenario in chosen.items()}
    kept = {
        toolchain: {n: c for n, c in counts.items() if n not in chosen or not instructions}
        for toolchain, counts in old.instructions.items()
    }
    if instructions and chosen:
        counts, toolchain = instructions_per_packet(build, list(chosen.values()))
        rounded = [round(count, 2) for count in counts]
        now = dict(zip(chosen, rounded, strict=True))
        kept[toolchain] = kept.get(toolchain, {}) | now
    return GateFile(
        dict(old.scenarios) | chosen,
        dict(old.metrics) | metrics,
        {toolchain: by_name for toolchain, by_name in kept.items() if by_name},
    )


def recorded(path: Path) -> GateFile:
    """The file, or where there is none the default scenarios, with nothing recorded."""
    return read_gate_file(path) if path.exists() else GateFile(default_scenarios(), {}, {})


def chosen_scenarios(gate: GateFile, only: Sequence[str]) -> dict[str, Scenario]:
    """All scenarios of a gate, or those named."""
    for name in only:
        if name not in gate.scenarios:
            known = ", ".join(gate.scenarios) or "none"
            raise ValueError(f'only = "{name}": there is no such scenario: {known}')
    return {name: s for name, s in gate.scenarios.items() if not only or name in only}


# --- check ----------------------------------------------------------------------------------------


def check_simulated(build: Build, name: str, scenario: Scenario, baseline: Metrics) -> Check:
    """Are the simulated results those recorded, to the last picosecond?"""

    def checked() -> tuple[Verdict, str]:
        if not baseline:
            return Verdict.MISSING, "no simulated results are recorded"
        now = simulate(build, scenario).metrics
        # A metric that is not listed is 0, so that a new one needs no new baseline.
        names = [n for n in {**baseline, **now} if baseline.get(n, 0) != now.get(n, 0)]
        if not names:
            return Verdict.PASSED, f"{len(baseline)} simulated results are equal"
        shown = [f"{n} {baseline.get(n, 0)} -> {now.get(n, 0)}" for n in names[:4]]
        more = [f"{len(names) - 4} more"] if len(names) > 4 else []
        return Verdict.REGRESSED, "simulated results changed: " + ", ".join(shown + more)

    return _guarded(name, "simulated", checked)


def check_instructions(build: Build, scenarios: dict[str, Scenario], gate: GateFile) -> list[Check]:
    """Are the instructions a packet within 1 % of those recorded with the same toolchain?"""
    kind = "instructions"
    if not any(name in by_name for by_name in gate.instructions.values() for name in scenarios):
        detail = "no instructions are recorded"
        return [Check(name, kind, Verdict.MISSING, detail) for name in scenarios]
    try:
        counts, toolchain = instructions_per_packet(build, list(scenarios.values()))
    except (CrashedError, UnmeasurableError) as error:
        verdict = _verdict(error)
        return [Check(name, kind, verdict, str(error)) for name in scenarios]
    baseline = gate.instructions.get(toolchain)
    return [
        Check(name, kind, *compare_count(count, (baseline or {}).get(name), toolchain))
        for name, count in zip(scenarios, counts, strict=True)
    ]


def compare_count(
    count: float, baseline: float | None, toolchain: Toolchain
) -> tuple[Verdict, str]:
    """A count of instructions a packet against the one recorded."""
    if baseline is None:
        what = f"{toolchain.compiler}, {toolchain.machine}, {toolchain.libc}, "
        return Verdict.MISSING, f"no instructions recorded by {what}valgrind {toolchain.valgrind}"
    change = count / baseline - 1
    detail = f"{baseline:.1f} -> {count:.1f} instructions a packet, {100 * change:+.2f} %"
    if change > INSTRUCTIONS_WITHIN:
        return Verdict.REGRESSED, detail
    if change < -INSTRUCTIONS_WITHIN:
        return Verdict.IMPROVED, f"{detail}: record it"
    return Verdict.PASSED, detail


def check_wall(
    build: Build, against: Build, name: str, scenario: Scenario, *, rounds: int = 20
) -> Check:
    """Is `build` slower than `against`? They run in turns, the first of a round in turns too."""

    def checked() -> tuple[Verdict, str]:
        times = times_for(against, scenario)
        old, new = interleaved(
            lambda: simulate(against, scenario, times=times).ns,
            lambda: simulate(build, scenario, times=times).ns,
            rounds=rounds,
        )
        return wall_verdict(paired_test(old, new), f"{against.label}")

    return _guarded(name, "wall", checked)


def wall_verdict(test: PairedTest, against: str) -> tuple[Verdict, str]:
    """What a test of wall times means."""
    change = f"{100 * (test.ratio - 1):+.1f} % wall time against {against}"
    detail = f"{change}, p = {test.p:.2g} of {test.pairs} pairs"
    slower = test.slower(at_least=WALL_AT_LEAST, p_below=WALL_P_BELOW)
    return (Verdict.REGRESSED if slower else Verdict.PASSED), detail


def interleaved(
    a: Callable[[], float], b: Callable[[], float], *, rounds: int
) -> tuple[list[float], list[float]]:
    """What both came to in each round: a b, b a, a b ...

    >>> said = []
    >>> interleaved(lambda: said.append("a") or 1, lambda: said.append("b") or 2, rounds=8)
    ([1, 1, 1, 1, 1, 1, 1, 1], [2, 2, 2, 2, 2, 2, 2, 2])
    >>> "".join(said)
    'abbaabbaabbaabba'
    """
    if rounds < FEWEST_ROUNDS:
        raise ValueError(f"rounds = {rounds}: must be at least {FEWEST_ROUNDS}")
    of_a: list[float] = []
    of_b: list[float] = []
    for number in range(rounds):
        for measure, kept in ((a, of_a), (b, of_b))[:: -1 if number % 2 else 1]:
            kept.append(measure())
    return of_a, of_b


def _guarded(name: str, kind: str, checked: Callable[[], tuple[Verdict, str]]) -> Check:
    try:
        return Check(name, kind, *checked())
    except (CrashedError, UnmeasurableError) as error:
        return Check(name, kind, _verdict(error), str(error))


def _verdict(error: Exception) -> Verdict:
    return Verdict.CRASHED if isinstance(error, CrashedError) else Verdict.UNMEASURABLE
