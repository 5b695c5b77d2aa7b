"""report.md: the rows, what is missing, and what was not published."""

from collections.abc import Iterable, Sequence
from typing import Any

from vringlab import version
from vringlab.experiments.premapped.explore import (
    LoadPoint,
    MappingPoint,
    saves_nothing,
    stops_paying,
)
from vringlab.validation import Row

HEAD = f"""# One mapping for a fragment or a umem instead of each buffer

Every number here is simulated by vringlab {version}, unless it is called published. The rows of a
UDP socket's rates and of a mapping for each buffer were fitted, each machine by itself; the others
are predicted, and a miss stays a miss.

"""
RATE_LIMIT = 10
"""Percent of error beyond which a rate is called a miss; of AF_XDP it is 15."""
SHARE_LIMIT = 15
"""Points of utilisation."""
MISSING_MAPPINGS = """
**What the mappings miss.** With one mapping for 21 buffers a strict IOMMU is hardly slower than a
lazy one here. The published machine was slower by 445 ns a packet, so it went on waiting for its
IOTLB, for nearly every second packet. Fragments of a single page would make it do that, as they
hold two buffers: Linux takes them where no eight free pages lie side by side. Whether it did is not
published; the prediction stays that of 32 KiB, which the driver asks for. With other fragments:

| bytes of a fragment | row | published pps | simulated pps | error |
|---|---|---|---|---|
"""
MISSING_SOCKETS = """
**What the sockets miss.** What sent to the guest is not published. Here it is what sockperf is, a
process of the host that sends message by message, and it is the bound of both receive rows; the
generator of the host's kernel would have AF_XDP receive three times as much. The published softirq
beside sockets was busy all the time, here it is for three quarters of it. The vhost worker is
busier in every published row than here: it needs about 840 ns for a packet sent by AF_XDP and is
as good as never idle, whatever it does. So AF_XDP sends too fast here, and both processors of the
guest that sends by it are too idle. What stood behind the TAP, on whose processor its softirq ran,
and which kernel the host had are not published. A host that publishes each used element at once is
a candidate for a part of it: its guest is interrupted more often.

| host | row | simulated pps | vhost | app | softirq |
|---|---|---|---|---|---|
"""


def report(
    rows: Sequence[Row],
    smaller: Sequence[Sequence[Any]],
    variants: Sequence[Sequence[Any]],
    mappings: Sequence[MappingPoint],
    queues: Sequence[Sequence[Any]],
    loads: Sequence[LoadPoint],
) -> str:
    """The table and its misses, then the explorations."""
    parts = [HEAD, *_table(rows), MISSING_MAPPINGS, *_fragments(smaller)]
    parts += [
        MISSING_SOCKETS,
        *_hosts(variants),
        *_mappings(mappings),
        *_queues(queues),
        *_loads(loads),
    ]
    return "".join(parts)


def _table(rows: Sequence[Row]) -> Iterable[str]:
    yield "| row | published | simulated | 90 % | error | |\n|---|---|---|---|---|---|\n"
    for row in rows:
        p = row.published
        use = "fitted" if p.use == "calibrate" else "predicted"
        cells = f"{p.value:.0f} | {row.predicted:.0f} | {row.low:.0f} to {row.high:.0f}"
        yield f"| {p.id}, {p.unit} | {cells} | {_error(row)} | {use} |\n"
    predicted = [row for row in rows if row.published.use == "predict"]
    misses = sum(map(_missed, predicted))
    yield f"\n{misses} of {len(predicted)} predicted rows are further from what was published than "
    yield f"{RATE_LIMIT} % (rates behind an IOMMU), 15 % (AF_XDP) or {SHARE_LIMIT} points.\n"


def _is_share(row: Row) -> bool:
    return row.published.unit == "%"


def _error(row: Row) -> str:
    if _is_share(row):
        return f"{row.predicted - row.published.value:+.0f} points"
    return f"{row.error_percent:+.1f} %"


def _missed(row: Row) -> bool:
    if _is_share(row):
        return abs(row.predicted - row.published.value) > SHARE_LIMIT
    limit = RATE_LIMIT if row.published.source == "premapped-2023" else 15
    return abs(row.error_percent) > limit


def _fragments(rows: Sequence[Sequence[Any]]) -> Iterable[str]:
    for size, name, published, pps in rows:
        error = 100 * (pps / published - 1)
        yield f"| {size} | {name} | {published:.0f} | {pps:.0f} | {error:+.1f} % |\n"


def _hosts(variants: Sequence[Sequence[Any]]) -> Iterable[str]:
    for host, name, pps, *shares in variants:
        cells = " | ".join("" if share is None else f"{share:.0f} %" for share in shares)
        yield f"| {host} | {name} | {pps:.0f} | {cells} |\n"


def _mappings(points: Sequence[MappingPoint]) -> Iterable[str]:
    best = max(points, key=lambda p: p.gain_percent)
    least = min(points, key=lambda p: p.gain_percent)
    yield "\n## How far one mapping a fragment carries\n\n"
    yield "The gain grows with the buffers in a fragment, and with what each unmap waits for "
    yield f"(mappings.csv, mappings.png): from {_whole(least.gain_percent)} % ({_place(least)}) to "
    yield f"{_whole(best.gain_percent)} % ({_place(best)}).\n"


def _whole(percent: float) -> str:
    return f"{round(percent):+d}"


def _place(p: MappingPoint) -> str:
    k = p.key
    return (
        f"{k.iommu}, fragments of {k.fragment_bytes} bytes, buffers of {k.buffer_bytes}, "
        f"{k.invalidation_ns:.0f} ns an invalidation"
    )


def _queues(rows: Sequence[Sequence[Any]]) -> Iterable[str]:
    yield "\n## Queues that share one invalidation queue\n\n"
    yield "| iommu | one mapping a | queues | simulated pps of each | ns a packet to unmap |\n"
    yield "|---|---|---|---|---|\n"
    for iommu, merge, queues, _, each, unmap in rows:
        what = "fragment" if merge else "buffer"
        yield f"| {iommu} | {what} | {queues} | {each:.0f} | {unmap:.0f} |\n"


def _loads(points: Sequence[LoadPoint]) -> Iterable[str]:
    yield "\n## Where zero-copy stops paying\n\nUnder full load (loads.csv, loads.png):\n\n"
    for way, deferred, size in stops_paying(points):
        name = "sent" if way == "xmit" else f"received, polls deferred by {deferred:.0f} us"
        where = (
            "pays for every size tried" if size is None else f"pays no more from {size} bytes on"
        )
        yield f"- {name}: {where}\n"
    yield "\nUnder a light load both do what is asked; the guest's processors together spend, for "
    yield "packets of 64 bytes:\n\n| | packets a second | ns by a socket | ns by AF_XDP | |\n"
    yield "|---|---|---|---|---|\n"
    lost = {tuple(key): sizes for *key, sizes in saves_nothing(points)}
    for p in points:
        if p.key.offered_pps > 0 and p.key.packet_bytes == 64:
            yield _light(p, lost[p.key.way, p.key.deferred_us, p.key.offered_pps])


def _light(p: LoadPoint, lost: Sequence[int]) -> str:
    way, _, deferred, offered = p.key
    name = "sent" if way == "xmit" else f"received, deferred {deferred:.0f} us"
    udp, xsk = p.guest_ns
    where = f"saves nothing at {', '.join(map(str, lost))} bytes" if lost else "saves at all sizes"
    return f"| {name} | {offered:.0f} | {udp:.0f} | {xsk:.0f} | {where} |\n"
