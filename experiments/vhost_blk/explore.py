"""What the authors did not ask: where serving a disk in the kernel pays, and where it does not."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import NamedTuple

from vringlab import Blk, Result, Scenario
from vringlab.experiments.vhost_blk.base import Run
from vringlab.results import write_table

DISKS = ("ram", "nvme")
BLOCKS = (4096, 65536)
DEPTHS = (1, 4, 16, 64, 256)
PROCESSORS = ((1, 1), (4, 1), (4, 2), (4, 4))
"""Virtual processors, each with a job and a queue of its own, and workers."""
SERVERS = {
    "kernel": {"form": "vhost-bio"},
    "io_uring": {"form": "vmm", "engine": "io_uring"},
    "threads": {"form": "vmm", "engine": "threads"},
}
IOS = 4000
PAYS = 1.05
"""In-kernel service pays if its rate is more than this times that of the best process."""
COLUMNS = (
    "disk",
    "block_bytes",
    "depth",
    "vcpus",
    "workers",
    "server",
    "iops",
    "mbps",
    "mean_us",
    "p99_us",
    "worker_share",
    "cpus",
)


class Key(NamedTuple):
    """A point, whoever serves it."""

    disk: str
    block_bytes: int
    depth: int
    vcpus: int
    workers: int


@dataclass(frozen=True, slots=True)
class Point:
    """What each server makes of it."""

    key: Key
    results: dict[str, Result]

    @property
    def gain(self) -> float:
        """Rate in the kernel over that of the best process."""
        best = max(r.rate_pps for name, r in self.results.items() if name != "kernel")
        return self.results["kernel"].rate_pps / best

    @property
    def latency_gain(self) -> float:
        """Mean latency of the best process over that in the kernel."""
        best = min(r.latency.mean_ps for name, r in self.results.items() if name != "kernel")
        return best / self.results["kernel"].latency.mean_ps


def scenario(key: Key, server: str) -> Scenario:
    """Random reads, the depth shared by the jobs of all virtual processors."""
    blk = Blk(
        disk=key.disk,
        disk_bytes=64 << 30,
        block_bytes=key.block_bytes,
        queue_depth=max(1, key.depth // key.vcpus),
        jobs=key.vcpus,
        queues=key.vcpus,
        **SERVERS[server],  # type: ignore[arg-type]
    )
    return Scenario(
        workload="blk",
        host="icelake-2.9",
        kernel="v6.2",
        guest="vm",
        vcpus=key.vcpus,
        workers=key.workers,
        indirect=True,
        packets=IOS,
        blk=blk,
    )


def explored(run: Run) -> Sequence[Point]:
    """Every point at which each processor has a request."""
    keys = [
        Key(disk, block, depth, *processors)
        for disk, block, depth, processors in product(DISKS, BLOCKS, DEPTHS, PROCESSORS)
        if depth >= processors[0]
    ]
    results = iter(run(scenario(key, server) for key in keys for server in SERVERS))
    return [Point(key, {server: next(results) for server in SERVERS}) for key in keys]


def write_points(path: Path, points: Iterable[Point]) -> None:
    """One row a point and server."""
    write_table(path, COLUMNS, (row for point in points for row in _rows(point)))


def _rows(point: Point) -> Iterable[tuple[object, ...]]:
    for server, r in point.results.items():
        share = r.core("worker").busy_ps / (r.elapsed_ps * point.key.workers)
        times = (r.latency.mean_ps / 1e6, r.latency.p99_ps / 1e6)
        yield (*point.key, server, r.rate_pps, r.throughput_mbps, *times, share, r.cpus)


def crossovers(points: Sequence[Point]) -> Iterable[tuple[str, int, int, int, int | None]]:
    """By disk, block size and processors: the smallest depth from which on the kernel pays no
    more; None where it pays at the largest depth too."""
    for disk, block, (vcpus, workers) in product(DISKS, BLOCKS, PROCESSORS):
        own = [p for p in points if p.key._replace(depth=0) == (disk, block, 0, vcpus, workers)]
        pays = [p.key.depth for p in own if p.gain > PAYS]
        later = [p.key.depth for p in own if not pays or p.key.depth > max(pays)]
        yield disk, block, vcpus, workers, min(later, default=None)
