"""What came out of a run. All figures are simulated."""

import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vringlab import _native
from vringlab.blk import BlkResult
from vringlab.scenario import Scenario

STEPS: tuple[str, ...] = _native.step_names
"""The steps of a packet's life, in order: the first axis of a ledger."""
COSTS: tuple[str, ...] = _native.cost_names
"""What time is spent on: the second axis of a ledger."""
UNMODELLED = (
    "unmodelled",
    "unmodelled_rx",
    "unmodelled_guest_rx",
    "unmodelled_guest_tx",
    "unmodelled_blk",
)
"""Those of them that no mechanism explains."""


@dataclass(frozen=True, slots=True)
class LedgerRow:
    """Time that one step of a packet's life spent on one cost, over the whole run."""

    cost: str
    step: str
    ps: int
    """Picoseconds."""
    count: int
    """Occurrences."""


@dataclass(frozen=True, slots=True)
class CoreResult:
    """A core: guest, worker, or control, which maps the ring. Its ledger adds up to busy_ps."""

    name: str
    busy_ps: int
    idle_ps: int
    ledger: tuple[LedgerRow, ...]
    """The rows that are not zero, by step, then cost."""

    def __repr__(self) -> str:
        rows = f"{len(self.ledger)} ledger rows"
        return f"CoreResult({self.name}: {self.busy_ps} ps busy, {self.idle_ps} ps idle, {rows})"


@dataclass(frozen=True, slots=True)
class Latency:
    """From the guest's add to the sink, of blk from an I/O's begin to its end, in picoseconds;
    quantiles to within 1/32."""

    mean_ps: int
    p50_ps: int
    p90_ps: int
    p99_ps: int
    max_ps: int


@dataclass(frozen=True, slots=True)
class DmaResult:
    """What a guest's DMA mappings took; zeros where nothing is mapped."""

    maps: int
    unmaps: int
    invalidations: int
    """Of the IOTLB, that a processor waited for."""
    tree_searches: int
    """For I/O addresses that no cache had."""
    mapped_pages: int
    """At the end."""
    iotlb_misses: int
    """Of the device's accesses."""
    bounced_bytes: int
    """Copied into a pool and out of it."""
    pool_slots: int
    """Of a pool, in use at the end."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Result:
    """What a simulated run came to.

    >>> import vringlab as vl
    >>> vl.run(vl.Scenario(packets=1000))
    Result(simulated ... Mpps, ... ns per packet, 1000 packets)
    """

    scenario: Scenario
    packets: int
    """Frames that reached the sink; I/Os of the workload blk."""
    bytes: int
    """Their length."""
    refused: int
    """Chains given back unsent."""
    dropped: int
    """Frames that the socket refused, or that a queue lost when it was reset."""
    elapsed_ps: int
    """Start until the last frame was sent and published."""
    rate_pps: float
    """Packets a second of elapsed time."""
    cores: tuple[CoreResult, ...]
    latency: Latency
    batches: int
    """Calls into the socket."""
    alone: int
    """Of them, with one frame that could not be batched."""
    lent: int
    """Frames that were not copied."""
    kicks: int
    """By the guest."""
    calls: int
    """By the device."""
    wakeups: int
    """Of the worker."""
    inline_packets: int
    """Served by the kick itself."""
    interrupts: int
    """Taken by the guest."""
    invalidations: int
    """Of the ring's mapping."""
    resizes: int
    """Of the queue, by the guest."""
    pinned_bytes: int
    """Guest memory held by the mapping."""
    setup_ps: int
    """Of mapping the ring."""
    teardown_ps: int
    """Of unmapping it."""
    dma: DmaResult
    """Of the guest vm-kernel."""
    blk: BlkResult
    """Of the workload blk."""
    guest_memory_hash: int
    """FNV-1a of all guest memory at the end."""

    @property
    def rate_mpps(self) -> float:
        """Million packets a second of elapsed time."""
        return self.rate_pps / 1e6

    @property
    def throughput_gbps(self) -> float:
        """Gigabits a second of elapsed time: of frames, or of payload for TCP streams."""
        return 8000 * self.bytes / self.elapsed_ps if self.elapsed_ps else math.nan

    @property
    def throughput_mbps(self) -> float:
        """Megabytes a second of elapsed time, 10**6 bytes each.

        >>> import vringlab as vl
        >>> disk = vl.Blk(disk="ram", block_bytes=65536)
        >>> 100 < vl.run(vl.Scenario(workload="blk", packets=100, blk=disk)).throughput_mbps < 1e5
        True
        """
        return 1e6 * self.bytes / self.elapsed_ps if self.elapsed_ps else math.nan

    @property
    def guest_system_rate(self) -> float:
        """I/Os of the workload blk that the guest makes in a second of its system time."""
        return (
            1e12 * self.packets / self.blk.guest_system_ps if self.blk.guest_system_ps else math.nan
        )

    @property
    def cpus(self) -> float:
        """Cores' worth of busy time, over all cores; kinds of cores are counted together."""
        return sum(core.busy_ps for core in self.cores) / self.elapsed_ps

    @property
    def throughput_per_cpu(self) -> float:
        """Gigabits a second for each busy core."""
        return self.throughput_gbps / self.cpus if self.cpus else math.nan

    @property
    def ns_per_packet(self) -> float:
        """Elapsed nanoseconds a packet."""
        return self._ns(self.elapsed_ps)

    @property
    def unmodelled_share(self) -> float:
        """The part of the worker's busy time that no cost row explains, 0 to 1."""
        return self.unmodelled_of("worker")

    def unmodelled_of(self, core: str) -> float:
        """The part of a core's busy time that no cost row explains, 0 to 1.

        >>> import vringlab as vl
        >>> result = vl.run(vl.Scenario(packets=1000))
        >>> result.unmodelled_of("worker") == result.unmodelled_share
        True
        """
        found = self.core(core)
        unmodelled = sum(row.ps for row in found.ledger if row.cost in UNMODELLED)
        return unmodelled / found.busy_ps if found.busy_ps else math.nan

    def core(self, name: str = "worker") -> CoreResult:
        """The core of that name: guest, worker, control; generator, app, reader, if there are."""
        for core in self.cores:
            if core.name == name:
                return core
        names = ", ".join(core.name for core in self.cores)
        raise ValueError(f'core = "{name}": must be one of {names}')

    def busy_share(self, core: str = "worker") -> float:
        """The part of the elapsed time that a core is busy, 0 to 1: its utilisation.

        >>> import vringlab as vl
        >>> vl.run(vl.Scenario(packets=1000, offered_pps=1e4)).busy_share("worker") < 0.1
        True
        """
        busy = self.core(core).busy_ps
        return busy / self.elapsed_ps if self.elapsed_ps else math.nan

    def busy_ns_per_packet(self, core: str = "worker") -> float:
        """Busy nanoseconds of a core, a packet."""
        return self._ns(self.core(core).busy_ps)

    def waterfall(self, core: str = "worker") -> dict[tuple[str, str], float]:
        """Nanoseconds a packet by (step, cost), the largest first.

        >>> import vringlab as vl
        >>> result = vl.run(vl.Scenario(packets=1000))
        >>> waterfall = result.waterfall()
        >>> abs(sum(waterfall.values()) - result.busy_ns_per_packet("worker")) < 1e-9
        True
        """
        rows = sorted(self.core(core).ledger, key=lambda row: -row.ps)
        return {(row.step, row.cost): self._ns(row.ps) for row in rows}

    def by(self, axis: str, core: str = "worker") -> dict[str, float]:
        """Nanoseconds a packet by "step" or by "cost", in the order of STEPS or COSTS."""
        if axis not in ("step", "cost"):
            raise ValueError(f'axis = "{axis}": must be one of step, cost')
        ps = dict.fromkeys(STEPS if axis == "step" else COSTS, 0)
        for row in self.core(core).ledger:
            ps[row.step if axis == "step" else row.cost] += row.ps
        return {name: self._ns(total) for name, total in ps.items() if total}

    def matrix(self, core: str = "worker") -> NDArray[np.float64]:
        """Nanoseconds a packet, shape (len(STEPS), len(COSTS)), zeros included.

        >>> import vringlab as vl
        >>> matrix = vl.run(vl.Scenario(packets=1000)).matrix()
        >>> matrix.shape == (len(vl.STEPS), len(vl.COSTS))
        True
        """
        matrix = np.zeros((len(STEPS), len(COSTS)))
        for row in self.core(core).ledger:
            matrix[STEPS.index(row.step), COSTS.index(row.cost)] = self._ns(row.ps)
        return matrix

    def to_dict(self) -> dict[str, Any]:
        """All fields, as JSON knows them."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        nested = {
            "scenario": self.scenario.to_dict(),
            "cores": [_core_dict(core) for core in self.cores],
            "latency": asdict(self.latency),
            "blk": asdict(self.blk),
            "dma": asdict(self.dma),
        }
        return values | nested

    def summary(self) -> str:
        """The figures and where the worker's time went, as text."""
        return "\n".join(_summary(self))

    def __repr__(self) -> str:
        what = "I/Os" if self.scenario.workload == "blk" else "packets"
        return f"Result({self._headline()}, {self.packets} {what})"

    def _headline(self) -> str:
        if self.scenario.workload == "blk":
            rate = f"{self.rate_pps:.4g} IOPS, {self.throughput_mbps:.4g} MB/s"
            return f"simulated {rate}, {self.ns_per_packet:.4g} ns per I/O"
        return f"simulated {self.rate_mpps:.4g} Mpps, {self.ns_per_packet:.4g} ns per packet"

    def _ns(self, ps: int) -> float:
        return ps / (1000 * self.packets) if self.packets else math.nan


def _core_dict(core: CoreResult) -> dict[str, Any]:
    return asdict(core) | {"ledger": [asdict(row) for row in core.ledger]}


def _summary(result: Result) -> Iterable[str]:
    yield f"{result._headline()}"
    yield f"{result.scenario!r}"
    signals = f"{result.kicks} kicks, {result.wakeups} wake-ups, {result.calls} calls"
    if result.scenario.workload == "blk":
        yield _blk_summary(result)
        yield signals
    else:
        lost = result.refused + result.dropped
        sent = f"{result.packets} packets sent, {lost} lost, {result.batches} batches"
        yield f"{sent}, {signals}"
    latency = result.latency
    yield f"latency: median {latency.p50_ps / 1e6:.4g} us, 99 % {latency.p99_ps / 1e6:.4g} us"
    if result.pinned_bytes:
        setup = f"set up in {result.setup_ps / 1e6:.4g} us"
        yield f"mapping: {result.pinned_bytes} bytes pinned, {setup}"
    for core in (core.name for core in result.cores if core.name != "control"):
        if result.scenario.workload == "blk" or core in ("guest", "worker", "app"):
            yield from _core_summary(result, core)
    yield f"unmodelled: {100 * result.unmodelled_share:.1f} % of the worker's busy time"


def _blk_summary(result: Result) -> str:
    blk = result.blk
    system = blk.guest_system_ps / 1e6 / result.packets
    disk = f"{100 * blk.disk_busy_ps / result.elapsed_ps:.0f} % busy with {blk.disk_requests}"
    return (
        f"{result.packets} I/Os in {blk.requests} requests, {blk.failed} failed; disk {disk}; "
        f"guest system time {system:.4g} us an I/O"
    )


def _core_summary(result: Result, core: str) -> Iterable[str]:
    busy = result.busy_ns_per_packet(core)
    idle = result._ns(result.core(core).idle_ps)
    yield f"{core}: {busy:.4g} ns per packet busy, {idle:.4g} idle"
    for step, ns in result.by("step", core).items():
        yield f"  {step:16} {ns:8.2f} ns {100 * ns / busy:5.1f} %"


def from_native(scenario: Scenario, native: _native.RunResult) -> Result:
    """The result of a run of `scenario`."""
    values = {
        name: getattr(native, name) for name in Result.__dataclass_fields__ if name != "scenario"
    }
    values["cores"] = tuple(_core(core) for core in native.cores)
    values["dma"] = DmaResult(*(getattr(native.dma, f.name) for f in fields(DmaResult)))
    blk_fields = BlkResult.__dataclass_fields__
    values["blk"] = BlkResult(**{name: getattr(native.blk, name) for name in blk_fields})
    values["latency"] = Latency(*(getattr(native.latency, f.name) for f in fields(Latency)))
    return Result(scenario=scenario, **values)


def _core(native: _native.CoreResult) -> CoreResult:
    rows = (LedgerRow(row.cost, row.step, row.ps, row.count) for row in native.ledger)
    return CoreResult(native.name, native.busy_ps, native.idle_ps, tuple(rows))
