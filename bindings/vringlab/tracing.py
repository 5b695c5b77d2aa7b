"""What each core of a short run does, and when: for Perfetto, chrome://tracing and flame graphs."""

import json
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping
from concurrent.futures import CancelledError
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vringlab import _native
from vringlab.execute import as_scenario
from vringlab.flame import Stacks, write_folded
from vringlab.run_result import CoreResult, Result, from_native
from vringlab.scenario import Scenario, native_scenario

_PS_PER_US = 1e6


@dataclass(frozen=True, slots=True)
class Slice:
    """One ledger step of one step of the simulation, on one core."""

    core: str
    """A name; "guest 1" is one of those that a result sums up as "guest"."""
    step: str
    start_ps: int
    ps: int
    costs: Mapping[str, int]
    """Picoseconds, by cost; they add up to `ps`."""

    @property
    def end_ps(self) -> int:
        return self.start_ps + self.ps


@dataclass(frozen=True, slots=True)
class Flow:
    """A kick or a call, from one core to another."""

    kind: str
    """kick or call."""
    source: str
    target: str
    at_ps: int
    """On the clock of the source."""


@dataclass(frozen=True, slots=True, repr=False)
class Trace:
    """A recorded run. The slices of a core add up to its busy time exactly.

    Within one step of the simulation, a packet say, ledger steps lie end to end in the order of a
    packet's life: how long each took is exact, the order within that step is not recorded. Where a
    core waits in the middle of such a step, its work is drawn after the wait.
    """

    result: Result
    slices: tuple[Slice, ...]
    """By core in the order of the results, then by time."""
    flows: tuple[Flow, ...]
    """By time of delivery."""

    def chrome(self) -> dict[str, Any]:
        """The trace as Chrome's JSON, which Perfetto reads: a track a core, kicks and calls as
        flows. Times are simulated microseconds.

        >>> import vringlab as vl
        >>> events = vl.trace(vl.Scenario(packets=100)).chrome()["traceEvents"]
        >>> sorted({event["ph"] for event in events})
        ['M', 'X', 'f', 's']
        """
        numbers = {core: i for i, core in enumerate(self._cores())}
        return {
            "displayTimeUnit": "ns",
            "otherData": {
                "simulated": f"by vringlab {_native.version}",
                "scenario": repr(self.result.scenario),
            },
            "traceEvents": [
                *_names(numbers),
                *(_slice_event(s, numbers) for s in self.slices),
                *_flow_events(self, numbers),
            ],
        }

    def folded(self) -> Stacks:
        """Simulated picoseconds by stack: core, ledger step, cost.

        >>> import vringlab as vl
        >>> trace = vl.trace(vl.Scenario(packets=100))
        >>> sum(trace.folded().values()) == sum(core.busy_ps for core in trace.result.cores)
        True
        """
        return folded_ledgers(self.result.cores)

    def write_chrome(self, path: Path | str) -> None:
        """Writes `chrome()`, for ui.perfetto.dev or chrome://tracing."""
        Path(path).write_text(json.dumps(self.chrome()) + "\n", encoding="utf-8")

    def write_folded(self, path: Path | str) -> None:
        """Writes `folded()`, for any program that draws flame graphs."""
        write_folded(Path(path), self.folded())

    def _cores(self) -> list[str]:
        return list(dict.fromkeys(s.core for s in self.slices))

    def __repr__(self) -> str:
        cores = len(self._cores())
        return (
            f"Trace(simulated: {len(self.slices)} slices, {cores} cores, {len(self.flows)} flows)"
        )


def trace(scenario: Scenario) -> Trace:
    """Simulates a short run and records what each core does, and when.

    The result is that of `run`. ValueError where the run has more than half a million slices, some
    60000 packets.

    >>> import vringlab as vl
    >>> trace(vl.Scenario(packets=100))
    Trace(simulated: ... slices, 2 cores, ... flows)
    """
    native = native_scenario(as_scenario("scenario", scenario))
    recorded = _native.run_traced(native, _native.RunControl())
    if recorded is None:
        raise CancelledError
    result, native_trace = recorded
    return _from_native(from_native(scenario, result), native_trace)


def folded_ledgers(cores: tuple[CoreResult, ...]) -> Stacks:
    """Picoseconds by stack: core, ledger step, cost."""
    rows = ((core.name, row) for core in cores for row in core.ledger)
    return {(core, row.step, row.cost): row.ps for core, row in rows}


def _from_native(result: Result, native: _native.Trace) -> Trace:
    names, parts = list(native.cores), list(native.parts)
    order = {core.name: i for i, core in enumerate(result.cores)}
    slices = []
    for s in native.slices:
        if not names[s.core]:  # a core that no result lists
            continue
        costs = {p.cost: p.ps for p in parts[s.first_part : s.first_part + s.parts]}
        slices.append(Slice(names[s.core], s.step, s.start_ps, s.ps, costs))
    slices.sort(key=lambda s: (order[_kind(s.core)], s.core, s.start_ps))
    flows = [Flow(f.kind, names[f.source], names[f.target], f.at_ps) for f in native.flows]
    return Trace(result, tuple(slices), tuple(flows))


def _kind(core: str) -> str:
    return core.partition(" ")[0]


def _names(numbers: Mapping[str, int]) -> Iterator[dict[str, Any]]:
    yield _meta("process_name", 0, {"name": "simulated"})
    for core, number in numbers.items():
        yield _meta("thread_name", number, {"name": core})
        yield _meta("thread_sort_index", number, {"sort_index": number})


def _meta(name: str, thread: int, arguments: dict[str, Any]) -> dict[str, Any]:
    return {"ph": "M", "pid": 0, "tid": thread, "name": name, "args": arguments}


def _slice_event(s: Slice, numbers: Mapping[str, int]) -> dict[str, Any]:
    return {
        "ph": "X",
        "pid": 0,
        "tid": numbers[s.core],
        "name": s.step,
        "ts": s.start_ps / _PS_PER_US,
        "dur": s.ps / _PS_PER_US,
        "args": {f"{cost} ns": ps / 1000 for cost, ps in s.costs.items()},
    }


def _flow_events(trace: Trace, numbers: Mapping[str, int]) -> Iterator[dict[str, Any]]:
    """An arrow each, from the slice that kicked to the next one of the core that was told."""
    of_core: dict[str, list[Slice]] = {core: [] for core in numbers}
    for s in trace.slices:
        of_core[s.core].append(s)
    starts = {core: [s.start_ps for s in own] for core, own in of_core.items()}
    for number, flow in enumerate(trace.flows):
        if flow.source not in of_core or flow.target not in of_core:
            continue
        before = bisect_left(starts[flow.source], flow.at_ps) - 1
        after = bisect_right(starts[flow.target], flow.at_ps)
        if before < 0 or after == len(starts[flow.target]):
            continue  # the run ends before anybody hears of it
        begin, end = of_core[flow.source][before], of_core[flow.target][after]
        common = {"pid": 0, "cat": flow.kind, "name": flow.kind, "id": number}
        yield common | {
            "ph": "s",
            "tid": numbers[flow.source],
            "ts": begin.start_ps / _PS_PER_US,
        }
        yield common | {
            "ph": "f",
            "bp": "e",
            "tid": numbers[flow.target],
            "ts": end.start_ps / _PS_PER_US,
        }
