"""What was not published: how far one mapping a fragment and zero-copy carry."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import NamedTuple

from vringlab import Result, Scenario
from vringlab.experiments.premapped.base import RECEIVE, SOCKETS, Run
from vringlab.results import write_table

PACKETS = 20_000
IOMMUS = ("lazy", "strict")
FRAGMENTS = (4096, 8192, 16384, 32768, 65536, 131072)
BUFFERS = (512, 1514, 3500)
INVALIDATIONS_NS = (250.0, 1000.0, 4000.0)
QUEUES = (1, 2, 3, 4, 5)
SIZES = (64, 256, 512, 1024, 1514, 3000)
DEFERRED_US = (0.0, 20.0, 100.0)
OFFERED_PPS = (0.0, 50_000.0, 200_000.0)
"""As much as it can, and two light loads."""
PAYS = 1.05
"""Zero-copy pays if its rate is more than this times that of a socket."""


class Mapping(NamedTuple):
    """A point of the exploration of mappings."""

    iommu: str
    buffer_bytes: int
    invalidation_ns: float
    fragment_bytes: int


@dataclass(frozen=True, slots=True)
class MappingPoint:
    """One mapping a buffer and one a fragment."""

    key: Mapping
    per_buffer: Result
    per_fragment: Result

    @property
    def gain_percent(self) -> float:
        return 100 * (self.per_fragment.rate_pps / self.per_buffer.rate_pps - 1)


def mappings(run: Run) -> list[MappingPoint]:
    """Gain over fragment size, buffer size, IOMMU and what an invalidation costs."""
    keys = [Mapping(*key) for key in product(IOMMUS, BUFFERS, INVALIDATIONS_NS, FRAGMENTS)]
    results = iter(run(_received(key, merge) for key in keys for merge in (False, True)))
    return [MappingPoint(key, next(results), next(results)) for key in keys]


def _received(key: Mapping, merge: bool) -> Scenario:
    return RECEIVE.replace(
        packets=PACKETS,
        iommu=key.iommu,
        dma_merge=merge,
        fragment_bytes=key.fragment_bytes,
        min_buffer_bytes=key.buffer_bytes,
        costs={"iotlb_invalidate_sync": key.invalidation_ns},
    )


def shared_queues(run: Run) -> list[tuple[object, ...]]:
    """Queues, each with a processor and a worker, that share one invalidation queue."""
    keys = list(product(IOMMUS, (False, True), QUEUES))
    results = run(
        RECEIVE.replace(
            packets=PACKETS * queues,
            iommu=iommu,
            dma_merge=merge,
            queue_pairs=queues,
            workers=queues,
        )
        for iommu, merge, queues in keys
    )
    return [
        (*key, r.rate_pps, r.rate_pps / key[2], r.by("step", "guest").get("dma_unmap", 0.0))
        for key, r in zip(keys, results, strict=True)
    ]


class Load(NamedTuple):
    """A point of the exploration of zero-copy."""

    way: str
    packet_bytes: int
    deferred_us: float
    offered_pps: float


@dataclass(frozen=True, slots=True)
class LoadPoint:
    """A UDP socket and AF_XDP."""

    key: Load
    udp: Result
    xsk: Result

    @property
    def gain(self) -> float:
        """Rate by AF_XDP over that by a socket."""
        return self.xsk.rate_pps / self.udp.rate_pps

    @property
    def guest_ns(self) -> tuple[float, float]:
        """Busy nanoseconds a packet of the guest's processors, by socket and by AF_XDP."""
        return guest_ns(self.udp), guest_ns(self.xsk)


def guest_ns(result: Result) -> float:
    """Of application and softirq together."""
    cores = [core.name for core in result.cores if core.name in ("guest", "app")]
    return sum(result.busy_ns_per_packet(core) for core in cores)


def loads(run: Run) -> list[LoadPoint]:
    """Where zero-copy pays: by packet size, load, and how long polls are deferred."""
    keys = [
        Load(way, size, deferred, offered)
        for way, size, deferred, offered in product(
            ("xmit", "recv"), SIZES, DEFERRED_US, OFFERED_PPS
        )
        if way == "recv" or deferred == 0
    ]
    results = iter(run(_loaded(key, kind) for key in keys for kind in ("sockperf", "xsk")))
    return [LoadPoint(key, next(results), next(results)) for key in keys]


def _loaded(key: Load, kind: str) -> Scenario:
    return SOCKETS[f"afxdp.{key.way}.{kind}"].replace(
        packets=PACKETS if key.offered_pps == 0 else PACKETS // 5,
        packet_bytes=key.packet_bytes,
        sender="pktgen",  # as fast as the host's kernel can
        napi_defer_us=key.deferred_us,
        offered_pps=key.offered_pps,
    )


def stops_paying(points: Sequence[LoadPoint]) -> Iterable[tuple[str, float, int | None]]:
    """By way and deferral: the shortest packet from which on zero-copy pays no more under full
    load; None where it pays for the longest too."""
    for way, deferred in sorted({(p.key.way, p.key.deferred_us) for p in points}):
        own = [p for p in points if p.key[::2] == (way, deferred) and p.key.offered_pps == 0]
        pays = [p.key.packet_bytes for p in own if p.gain > PAYS]
        later = [p.key.packet_bytes for p in own if not pays or p.key.packet_bytes > max(pays)]
        yield way, deferred, min(later, default=None)


def saves_nothing(points: Sequence[LoadPoint]) -> Iterable[tuple[str, float, float, list[int]]]:
    """By way, deferral and light load: the packet sizes for which the guest's processors spend
    hardly less by AF_XDP than by a socket."""
    light = [p for p in points if p.key.offered_pps > 0]
    for way, deferred, offered in sorted({(p.key[0], p.key[2], p.key[3]) for p in light}):
        own = [p for p in light if (p.key[0], p.key[2], p.key[3]) == (way, deferred, offered)]
        lost = [p.key.packet_bytes for p in own if p.guest_ns[0] < PAYS * p.guest_ns[1]]
        yield way, deferred, offered, lost


def write_mappings(path: Path, points: Iterable[MappingPoint]) -> None:
    """One row a point."""
    rows = (
        (*p.key, p.per_buffer.rate_pps, p.per_fragment.rate_pps, p.gain_percent) for p in points
    )
    write_table(path, (*Mapping._fields, "per_buffer_pps", "per_fragment_pps", "gain_%"), rows)


def write_queues(path: Path, rows: Iterable[Sequence[object]]) -> None:
    """One row a number of queues."""
    columns = ("iommu", "per_fragment", "queues", "pps", "pps_each", "unmap_ns")
    write_table(path, columns, rows)


def write_loads(path: Path, points: Iterable[LoadPoint]) -> None:
    """One row a point."""
    columns = ("udp_pps", "xsk_pps", "gain", "udp_guest_ns", "xsk_guest_ns")
    rows = ((*p.key, p.udp.rate_pps, p.xsk.rate_pps, p.gain, *p.guest_ns) for p in points)
    write_table(path, (*Load._fields, *columns), rows)
