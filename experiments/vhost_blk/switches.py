"""One system turned into the other, a mechanism at a time, and which of them make writes slower."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path

from vringlab import Result, Scenario
from vringlab.experiments.vhost_blk.base import LONG, VHOST, VMM, Run, dd
from vringlab.results import write_table

SWITCHES = {
    "interrupts by eventfd": {"interrupt": "irqfd"},
    "kicks by eventfd": {"kick": "ioeventfd"},
    "adjacent writes stay apart": {"merge_writes": False},
    "one request at a time": {"pool_threads": 1},
    "served in the kernel": {"form": VHOST["form"]},
    "a sector is 256 bytes": {"sector_shift": 8},
}
"""In the order of the waterfall. The one in the kernel needs those before it: that prototype has
eventfds, merges nothing and serves one request at a time."""
KERNEL = "served in the kernel"
WITHIN_KERNEL = frozenset([*SWITCHES][: [*SWITCHES].index(KERNEL)])
OPERATIONS = ("read", "write")
STEP = ("operation", "after", "mbps", "us_per_io", "difference_us", "disk_us", "cpu_us")
SET = ("switched_on", "mechanisms", "vmm_mbps", "mbps", "slower")
CACHE = ("operation", "cache", "system", "fault", "mbps", "disk_read_share", "disk_write_share")
NEAR = 0.97
"""A system is slower if it has less than this share of the other's rate: runs do not repeat
better."""


@dataclass(frozen=True, slots=True)
class Step:
    """The system after a mechanism was switched, those before it too."""

    operation: str
    name: str
    result: Result

    @property
    def us_per_io(self) -> float:
        return self.result.ns_per_packet / 1000

    @property
    def disk_us(self) -> float:
        """Of them, those in which the disk works."""
        return self.result.blk.disk_busy_ps / 1e6 / self.result.packets

    @property
    def cpu_us(self) -> float:
        """Busy time of all cores."""
        return sum(core.busy_ps for core in self.result.cores) / 1e6 / self.result.packets


def system(operation: str, switched: Iterable[str]) -> Scenario:
    """The VMM with these mechanisms switched."""
    fields = dict(VMM)
    for name in switched:
        fields |= SWITCHES[name]
    return dd(operation, **fields)


def ladders(run: Run) -> Mapping[str, Sequence[Step]]:
    """By operation, from the VMM to the prototype, one mechanism after the other."""
    names = ["user space", *SWITCHES]
    asked = {op: [system(op, names[1 : i + 1]) for i in range(len(names))] for op in OPERATIONS}
    return {
        op: [Step(op, name, r) for name, r in zip(names, run(scenarios), strict=True)]
        for op, scenarios in asked.items()
    }


@dataclass(frozen=True, slots=True)
class Tried:
    """A set of mechanisms switched on in the VMM, and whether its writes are slower for it."""

    names: tuple[str, ...]
    mbps: float
    base_mbps: float

    @property
    def slower(self) -> bool:
        return self.mbps < NEAR * self.base_mbps


def sets_tried(run: Run) -> Sequence[Tried]:
    """Every set of mechanisms that can stand together, the smallest first."""
    sets = [c for n in range(1, len(SWITCHES) + 1) for c in combinations(SWITCHES, n) if _can(c)]
    base, *rates = (r.throughput_mbps for r in run(system("write", s) for s in [(), *sets]))
    return [Tried(names, rate, base) for names, rate in zip(sets, rates, strict=True)]


def _can(names: Sequence[str]) -> bool:
    return KERNEL not in names or {*names} >= WITHIN_KERNEL


def smallest(tried: Iterable[Tried]) -> Sequence[Tried]:
    """The sets that make writes slower and of which no part does."""
    found: list[Tried] = []
    for one in tried:
        if one.slower and not any({*f.names} <= {*one.names} for f in found):
            found.append(one)
    return found


@dataclass(frozen=True, slots=True)
class Opened:
    """A system whose file was opened in another way."""

    operation: str
    cache: str
    system: str
    fault: bool
    result: Result


def caches(run: Run) -> Sequence[Opened]:
    """Both systems with the file open for each kind of cache; costs as fitted to write-through."""
    keys = [
        (operation, cache, name, fault)
        for operation in OPERATIONS
        for cache in ("none", "writethrough", "writeback")
        for name in ("vmm", "vhost")
        for fault in (False, True)
        if not (name == "vmm" and fault) and not (name == "vhost" and cache == "none")
    ]
    scenarios = [
        dd(op, **{**(VMM if name == "vmm" else VHOST), "cache": cache}, sector_shift=9 - fault)
        if name == "vmm"
        else dd(op, **{**VHOST, "cache": cache, "sector_shift": 9 - fault})
        for op, cache, name, fault in keys
    ]
    longer = [
        s.replace(packets=LONG * s.packets, blk=replace(s.blk, disk_bytes=LONG * s.blk.disk_bytes))
        for s in scenarios
    ]
    return [Opened(*key, r) for key, r in zip(keys, run(longer), strict=True)]


def write_ladders(path: Path, found: Mapping[str, Sequence[Step]]) -> None:
    """Each step with what it changes in the time of an I/O."""
    rows = []
    for steps in found.values():
        for before, step in zip([steps[0], *steps], steps, strict=False):
            times = (step.us_per_io, step.us_per_io - before.us_per_io, step.disk_us, step.cpu_us)
            rows.append((step.operation, step.name, step.result.throughput_mbps, *times))
    write_table(path, STEP, rows)


def write_sets(path: Path, tried: Iterable[Tried]) -> None:
    """What each set of mechanisms does to writes."""
    rows = [(len(t.names), "; ".join(t.names), t.base_mbps, t.mbps, int(t.slower)) for t in tried]
    write_table(path, SET, rows)


def write_caches(path: Path, found: Iterable[Opened]) -> None:
    """Rates, and how much of what was asked for the disk read and wrote."""
    rows = []
    for o in found:
        blk, asked = o.result.blk, o.result.bytes
        shares = (blk.disk_read_bytes / asked, blk.disk_write_bytes / asked)
        place = (o.operation, o.cache, o.system, int(o.fault))
        rows.append((*place, o.result.throughput_mbps, *shares))
    write_table(path, CACHE, rows)
