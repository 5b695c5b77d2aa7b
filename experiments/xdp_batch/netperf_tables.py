"""The tables of the TCP streams: every cell, the regimes' ledgers, and the send buffer."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from vringlab import Result, compare
from vringlab.experiments.vmap.tables import waterfall_rows
from vringlab.experiments.xdp_batch.base import Run
from vringlab.experiments.xdp_batch.netperf import (
    SEND_BUFFERS,
    Answer,
    Cell,
    Key,
    pair,
    rank_correlation,
    right,
)
from vringlab.results import write_table

CELLS = (
    "message_bytes",
    "sessions",
    "published_percent",
    "predicted_percent",
    "low",
    "high",
    "published_per_cpu_percent",
    "predicted_per_cpu_percent",
    "right",
    "regime",
    "packets_per_ms_before",
    "packets_per_ms_after",
    "payload_bytes_before",
    "payload_bytes_after",
    "alone_share_after",
    "gbps_before",
    "gbps_after",
    "guest_busy_cores_before",
    "worker_busy_cores_before",
    "readers_busy_cores_before",
)
REGIMES = (
    "message_bytes",
    "sessions",
    "regime",
    "core",
    "step",
    "cost",
    "before_ns",
    "after_ns",
    "difference_ns",
)
BUFFERS = ("send_buffer_bytes", "right", "of", "rank_correlation")
SHOWN: tuple[Key, ...] = ((64, 1), (512, 8), (65535, 4))
"""Cells that stand for their regimes: bound by the guest, by vhost, and not batched."""
CORES = ("guest", "worker", "readers")


@dataclass(frozen=True, slots=True)
class Score:
    """How well one size of the send buffer does, at the fit."""

    send_buffer_bytes: int
    right: int
    of: int
    rank_correlation: float


def write_cells(path: Path, answers: Iterable[Answer]) -> None:
    """Gains in percent; payload is the mean of a packet."""
    write_table(path, CELLS, map(_cell, answers))


def write_regimes(path: Path, table: Mapping[Key, Cell]) -> None:
    """Busy nanoseconds a packet of each core, by step and cost, before and after."""
    write_table(path, REGIMES, (row for key in SHOWN for row in _regime(table[key])))


def write_buffers(path: Path, scores: Iterable[Score]) -> None:
    rows = ((s.send_buffer_bytes, s.right, s.of, s.rank_correlation) for s in scores)
    write_table(path, BUFFERS, rows)


def scores(run: Run, answers: Sequence[Answer]) -> list[Score]:
    """One a send buffer."""
    return [_score(run, answers, bytes_) for bytes_ in SEND_BUFFERS]


def score(send_buffer_bytes: int, published: Sequence[float], predicted: Sequence[float]) -> Score:
    hits = sum(map(right, published, predicted))
    return Score(send_buffer_bytes, hits, len(published), rank_correlation(published, predicted))


def _score(run: Run, answers: Sequence[Answer], send_buffer_bytes: int) -> Score:
    keys = [(a.cell.message_bytes, a.cell.sessions) for a in answers]
    results = run(s for key in keys for s in pair(*key, send_buffer_bytes=send_buffer_bytes))
    gains = [
        100 * (after.throughput_gbps / before.throughput_gbps - 1)
        for before, after in zip(results[::2], results[1::2], strict=True)
    ]
    return score(send_buffer_bytes, [a.throughput for a in answers], gains)


def _cell(answer: Answer) -> tuple[object, ...]:
    cell, gain = answer.cell, answer.cell.throughput
    runs = (cell.before, cell.after)
    return (
        cell.message_bytes,
        cell.sessions,
        *(answer.throughput, gain.percent, gain.low, gain.high),
        *(answer.per_cpu, cell.per_cpu.percent),
        "yes" if answer.right else "no",
        cell.regime,
        *(1e9 * r.packets / r.elapsed_ps for r in runs),
        *map(payload_bytes, runs),
        cell.alone_share,
        *(r.throughput_gbps for r in runs),
        *map(cell.busy, CORES),
    )


def payload_bytes(result: Result) -> float:
    """The mean of a packet."""
    return result.bytes / result.packets


def _regime(cell: Cell) -> Iterable[tuple[object, ...]]:
    for core in CORES:
        for row in waterfall_rows(compare(cell.before, cell.after, core=core)):
            yield (cell.message_bytes, cell.sessions, cell.regime, core, *row)
