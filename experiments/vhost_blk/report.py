"""report.md: the answers in words, each computed from the tables beside it."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain

from vringlab import version
from vringlab.experiments.vhost_blk.explore import Point, crossovers
from vringlab.experiments.vhost_blk.switches import Opened, Step, Tried, smallest
from vringlab.experiments.vhost_blk.system_time import SystemTime
from vringlab.validation import Row

HEAD = f"""# A disk served inside the host's kernel

Every number here is simulated by vringlab {version}, unless it is called published. The costs were
fitted to the rows marked `calibrate`, those of the VMM of 2010 and of the bare host of 2022, and to
the guest's system time under that VMM; the others are predicted, and a miss stays a miss.

How the file was open in 2010 nobody said. Both systems are simulated with the default of that time,
write-through, and the faulty shift is part of the prototype. When these mechanisms were chosen the
published values to predict were known; none of them was fitted.
"""
WHY = {
    "blk2022.randread.ssd.qemu": (
        "what a VMM of 2022 lost on random reads is not known: its writes nearly reached the disk, "
        "and neither did its event loop, threads and system calls need so long here; contention "
        "for its locks, and for processors by 64 threads, is not simulated"
    ),
}
LIMITS = {"2010": 15, "2022": 10}
"""Percent of error beyond which a row is called a miss."""


def report(
    rows: Sequence[Row],
    system: Sequence[SystemTime],
    ladders: Mapping[str, Sequence[Step]],
    tried: Sequence[Tried],
    caches: Sequence[Opened],
    points: Sequence[Point],
    corrupt: float,
) -> str:
    """`corrupt`: share of bytes that a writer reads back wrong from the prototype."""
    parts = (
        _published(rows),
        _system(system),
        _ladders(ladders),
        _fault(ladders, caches, corrupt),
        _writes(tried),
        _caches(caches),
        _explored(points),
    )
    return "".join([HEAD, *chain.from_iterable(parts)])


def is_miss(row: Row) -> bool:
    """Further from what was published than the limit of its kind."""
    year = "2022" if row.published.id.startswith("blk2022") else "2010"
    return abs(row.error_percent) > LIMITS[year]


def _published(rows: Sequence[Row]) -> Iterable[str]:
    yield "\n## Published rows\n\n| row | published | simulated | 90 % | error | |\n"
    yield "|---|---|---|---|---|---|\n"
    for row in rows:
        p = row.published
        use = "fitted" if p.use == "calibrate" else "predicted"
        cells = f"{p.value:g} | {row.predicted:.4g} | {row.low:.4g} to {row.high:.4g}"
        yield f"| {p.id}, {p.unit} | {cells} | {row.error_percent:+.1f} % | {use} |\n"
    misses = [row for row in rows if is_miss(row)]
    yield f"\n{len(misses)} of {len(rows)} rows are further than {LIMITS['2010']} % (2010) or "
    yield f"{LIMITS['2022']} % (2022) from what was published.\n"
    for row in misses:
        why = WHY.get(row.published.id, "no mechanism is known")
        yield f"\n- {row.published.id}, {row.error_percent:+.1f} %: {why}.\n"


def _system(system: Iterable[SystemTime]) -> Iterable[str]:
    yield "\n## Guest system time of 640000 reads\n\n| row | published, s | simulated, s | 90 % | "
    yield "factor | |\n|---|---|---|---|---|---|\n"
    for s in system:
        use = "fitted" if s.published.use == "calibrate" else "predicted"
        interval = f"{s.low:.3g} to {s.high:.3g}"
        yield f"| {s.published.id} | {s.published.value:g} | {s.predicted:.3g} | {interval} | "
        yield f"{s.factor:.2f} | {use} |\n"


def _ladders(ladders: Mapping[str, Sequence[Step]]) -> Iterable[str]:
    yield "\n## From one system to the other\n\nEach line keeps what those above it switched.\n"
    for operation, steps in ladders.items():
        yield f"\n| {operation} | MB/s | us an I/O | of which the disk | all cores busy, us |\n"
        yield "|---|---|---|---|---|\n"
        for s in steps:
            times = f"{s.us_per_io:.1f} | {s.disk_us:.1f} | {s.cpu_us:.1f}"
            yield f"| {s.name} | {s.result.throughput_mbps:.1f} | {times} |\n"
    yield "\n![simulated: time of an I/O from one system to the other](ladder.png)\n"


def _fault(
    ladders: Mapping[str, Sequence[Step]], caches: Sequence[Opened], corrupt: float
) -> Iterable[str]:
    reads, writes = ladders["read"], ladders["write"]
    before, after = (s.result.throughput_mbps for s in reads[-2:])
    yield "\n## How much of it is one character?\n\nWith the wrong shift the prototype reads "
    yield f"{after:.0f} MB/s, without it {before:.0f}; the VMM "
    yield f"{reads[0].result.throughput_mbps:.0f}. So the fault is worth a factor of "
    yield f"{after / before:.2f}, and all that is real of the gain is "
    yield f"{100 * (before / reads[0].result.throughput_mbps - 1):+.0f} %. Of each byte asked for "
    share = reads[-1].result.blk.disk_read_bytes / reads[-1].result.bytes
    yield f"the disk reads {share:.2f}: every page is met twice, the second time in memory. "
    before, after = (s.result.throughput_mbps for s in writes[-2:])
    yield f"Writes of the prototype go at {after:.1f} MB/s with it and {before:.1f} without: each "
    yield "request is on the disk before the next one begins, wherever that goes, and what is "
    yield "written twice is asked for twice. That 60 is about half of 110 has that reason, and not "
    yield "that the disk wrote more. With a cache that writes back, the fault would even make "
    yield "writes faster "
    yield f"({_opened(caches, 'write', 'writeback', True):.0f} against "
    yield f"{_opened(caches, 'write', 'writeback', False):.0f} MB/s), since pages dirtied twice "
    yield "are written once. What it does to the data: of what a sequential writer wrote, "
    yield f"{100 * corrupt:.1f} % reads back wrong.\n"


def _opened(caches: Iterable[Opened], operation: str, cache: str, fault: bool) -> float:
    [found] = [
        o.result.throughput_mbps
        for o in caches
        if (o.operation, o.cache, o.system, o.fault) == (operation, cache, "vhost", fault)
    ]
    return found


def _writes(tried: Sequence[Tried]) -> Iterable[str]:
    found = smallest(tried)
    yield "\n## Why are writes slower?\n\nThe file is open write-through in both systems; where "
    yield "writes stay in the page cache neither is slower (below). Of all "
    yield f"{len(tried)} sets of mechanisms that can be switched in the VMM, these slow its writes "
    yield "down, and no part of any does:\n\n"
    for t in found:
        names = " and ".join(t.names)
        yield f"- {names}: {t.base_mbps:.0f} to {t.mbps:.0f} MB/s\n"
    yield "\nA write of 2 MiB reaches the device as requests of 512 KiB. A VMM that merges them, "
    yield "or has them under way at once, pays for the platters' turn once; a device that does "
    yield "neither pays it for each. The prototype has every mechanism of these sets, and each set "
    yield "is enough in the VMM. All sets: `sets.csv`.\n"


def _caches(caches: Iterable[Opened]) -> Iterable[str]:
    yield "\n## If the file was open in another way\n\nAt the costs fitted to write-through.\n\n"
    yield "| | cache | system | shift | MB/s | read from the disk, of what was asked | written |\n"
    yield "|---|---|---|---|---|---|---|\n"
    for o in caches:
        blk, asked = o.result.blk, o.result.bytes
        shares = f"{blk.disk_read_bytes / asked:.2f} | {blk.disk_write_bytes / asked:.2f}"
        place = f"{o.operation} | {o.cache} | {o.system} | {8 if o.fault else 9}"
        yield f"| {place} | {o.result.throughput_mbps:.1f} | {shares} |\n"


def _explored(points: Sequence[Point]) -> Iterable[str]:
    yield "\n## Where serving in the kernel pays\n\nRandom reads; the best process is that with "
    yield "io_uring or with threads, whichever is faster. It pays where its rate is more than 5 % "
    yield "above. The last column is the smallest number of requests at once from which on it does "
    yield "not.\n\n| disk | bytes | vCPUs | workers | rate, times | mean latency, times less | "
    yield "pays no more from |\n|---|---|---|---|---|---|---|\n"
    for disk, block, vcpus, workers, depth in crossovers(points):
        own = [p for p in points if p.key._replace(depth=0) == (disk, block, 0, vcpus, workers)]
        cells = f"{_range([p.gain for p in own])} | {_range([p.latency_gain for p in own])}"
        yield f"| {disk} | {block} | {vcpus} | {workers} | {cells} | {depth or 'beyond'} |\n"
    yield "\n![simulated: rate over requests at once](exploration.png)\n"
    yield "\n![simulated: latency over requests at once](latency.png)\n\nAll: `exploration.csv`.\n"


def _range(factors: Sequence[float]) -> str:
    return f"{min(factors):.2f} to {max(factors):.2f}"
