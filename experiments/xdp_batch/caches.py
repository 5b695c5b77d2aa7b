"""Which batch is best once the buffers of a batch outgrow the caches."""

from collections.abc import Sequence
from itertools import product
from typing import Any

from vringlab import Scenario, hosts, sinks
from vringlab.experiments.xdp_batch.base import SWEEP, Run

TITLE = "Rate over the batch, once buffers outgrow the caches"
BYTES = (64, 1514)
RINGS = (1024, 4096)
BATCHES = tuple(1 << i for i in range(11))
# By its weight vhost ends a run, and with it a batch; here the batch alone decides.
WEIGHT = {"weight_packets": BATCHES[-1], "weight_bytes": 1 << 24}
COLUMNS = (
    "packet_bytes",
    "ring_size",
    "batch",
    "mpps",
    "below_best_percent",
    "buffers_bytes",
    "touched_bytes",
)
# core/backend/net/xdp_buffer.h
LINE_BYTES, PAD_BYTES, HEADROOM_BYTES, SHARED_INFO_BYTES = 64, 64, 256, 320
(HOST,) = (host for host in hosts() if host.name == SWEEP.host)
(SINK,) = (sink for sink in sinks() if sink.name == SWEEP.sink)


def buffer_bytes(packet_bytes: int) -> int:
    """Of an XDP buffer: padding, headroom for a program, frame, and room for the shared info."""
    headroom = HEADROOM_BYTES if SINK.program else 0
    return _lines(PAD_BYTES + headroom + packet_bytes) + SHARED_INFO_BYTES


def table(run: Run) -> list[tuple[object, ...]]:
    """buffers_bytes: from the start of a batch's buffers to their end; touched_bytes: of the lines
    in them that are written and read, one of metadata and those of the frame."""
    cases = list(product(BYTES, RINGS, BATCHES))
    rates = [result.rate_mpps for result in run(_scenario(*case) for case in cases)]
    best = {case[:2]: 0.0 for case in cases}
    for case, rate in zip(cases, rates, strict=True):
        best[case[:2]] = max(best[case[:2]], rate)
    return [
        (*case, rate, 100 * (1 - rate / best[case[:2]]), *_memory(case[0], case[2]))
        for case, rate in zip(cases, rates, strict=True)
    ]


def answer(rows: Sequence[dict[str, Any]]) -> str:
    kib = (HOST.l1_bytes // 1024, HOST.l2_bytes // 1024)
    parts = [_case(rows, size, ring) for size, ring in product(BYTES, RINGS)]
    return (
        "Simulated, on a processor with {} KiB of L1 and {} KiB of L2: {}.".format(
            *kib, "; ".join(parts)
        )
        + f" The kernel ends a run, and so a batch, at {SWEEP.weight_packets} packets; not here."
    )


def _case(rows: Sequence[dict[str, Any]], size: int, ring: int) -> str:
    own = [r for r in rows if (r["packet_bytes"], r["ring_size"]) == (size, ring)]
    best = max(own, key=lambda r: float(r["mpps"]))
    return (
        f"{size} bytes in a ring of {ring}, best is {best['batch']} at once "
        f"({best['mpps']:.2f} Mpps, {best['buffers_bytes'] / 1024:.0f} KiB of buffers of which "
        f"{best['touched_bytes'] / 1024:.0f} KiB are touched), and {own[-1]['batch']} are "
        f"{own[-1]['below_best_percent']:.1f} % slower"
    )


def _scenario(size: int, ring: int, batch: int) -> Scenario:
    return SWEEP.replace(packet_bytes=size, ring_size=ring, batch=batch, **WEIGHT)


def _memory(size: int, batch: int) -> tuple[int, int]:
    return batch * buffer_bytes(size), batch * (LINE_BYTES + _lines(size))


def _lines(size: int) -> int:
    return -(-size // LINE_BYTES) * LINE_BYTES
