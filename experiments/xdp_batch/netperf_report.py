"""The section of report.md on TCP streams, computed from their cells."""

from collections.abc import Iterable, Sequence

from vringlab import Gain
from vringlab.experiments.xdp_batch.netperf import (
    NEAR,
    SLIGHT,
    Answer,
    Cell,
    rank_correlation,
    right,
)
from vringlab.experiments.xdp_batch.netperf_tables import Score, payload_bytes

PAGE_BYTES = 4096
CONSTANT = 1.0
"""A prediction of this for every row shows how lenient the count is."""
FEW = 2
"""Frames a call below which there is nothing to batch."""
DISCLOSURE = (
    "With the largest send buffer that Linux allows (4 MiB) writes pile up in every cell and "
    "hardly anything is gained; the default of 64 KiB, which is about what a flow of ten segments "
    "is given, was chosen after that comparison was seen, and so was the treatment of a full ring "
    "in testpmd (a burst is built before it is offered), so these rows are weaker evidence than "
    "rows that were predicted blind."
)


def section(answers: Sequence[Answer], scores: Iterable[Score]) -> Iterable[str]:
    wrong = [a for a in answers if not a.right]
    yield "\n## TCP streams\n\nNetperf from guest to host, by bytes of a write and sessions. "
    yield f"Of {len(answers)} gains in throughput {len(answers) - len(wrong)} are right: they have "
    yield f"the published sign or, where at most {SLIGHT} % were published, are within {NEAR} "
    yield f"points. {_ranks(answers)} {_lenient(answers)} {_per_cpu(answers)} {_inside(answers)}"
    yield f"\n\n{DISCLOSURE}\n\n![simulated: what TCP streams gain](netperf.png)\n\nNot right:\n\n"
    yield from (_miss(a, answers) for a in wrong)
    yield "\nHow much hangs on the send buffer, which is a guess (at the fit):\n\n"
    yield "| send buffer, KiB | right | rank correlation |\n|---|---|---|\n"
    yield from map(_score, scores)
    yield "\nAll: `netperf.csv`, `send_buffers.csv`; where time goes in three cells, bound by the "
    yield "guest, bound by vhost, and not batched: `regimes.csv`.\n"


def why(answer: Answer, answers: Iterable[Answer]) -> str:
    """The reason for a miss, from what bounds the cell and what its packets are."""
    if answer.cell.regime == "not batched":
        return _not_batched(answer, answers)
    if answer.cell.regime == "guest":
        return _guest(answer)
    if abs(answer.throughput) <= SLIGHT < answer.cell.throughput.percent:
        return _piled_up(answer)
    return "no mechanism is known"


def _not_batched(answer: Answer, answers: Iterable[Answer]) -> str:
    """Published gains that have both signs for one size of a write can't both be met."""
    size = answer.cell.message_bytes
    same = [a for a in answers if a.cell.message_bytes == size and abs(a.throughput) > SLIGHT]
    text = (
        f"{100 * answer.cell.alone_share:.0f} % of the frames are too long for a page and are sent "
        "alone, so hardly anything can change"
    )
    if min(a.throughput for a in same) < 0 < max(a.throughput for a in same):
        found = ", ".join(f"{a.throughput:+.0f} % with {_sessions(a)}" for a in same)
        text += f"; the published rows of this size contradict one another: {found}"
    return text


def _guest(answer: Answer) -> str:
    """A saved nanosecond of the worker is not one of the guest."""
    cell = answer.cell
    frames = cell.after.packets / cell.after.batches
    before, after = (r.kicks / r.packets for r in (cell.before, cell.after))
    nothing = ", so there is nothing to batch" if frames < FEW else ""
    empty = ", as a worker that is sooner done finds the ring empty more often"
    return (
        f"the guest can't write faster ({_busy_writers(cell)}), so what the worker saves does not "
        f"count; a call takes {frames:.1f} frames{nothing}; the guest kicks {after:.2f} times a "
        f"packet, {before:.2f} before{empty if after > before else ''}"
    )


def _busy_writers(cell: Cell) -> str:
    if cell.writers == 1:
        return "its one writer is always busy"
    return f"its writers keep {cell.writers} processors always busy"


def _piled_up(answer: Answer) -> str:
    mean = payload_bytes(answer.cell.after)
    return (
        f"packets have {mean:.0f} bytes of payload in the mean, which fit a page and are batched; "
        "that nothing was gained suggests that the writes of many sessions pile up to packets "
        "above a page, which the bounded send buffer of the model does not let them"
    )


def _ranks(answers: Sequence[Answer]) -> str:
    pairs = [(a.throughput, a.cell.throughput.percent) for a in answers]
    return f"Spearman's rank correlation is {rank_correlation(*zip(*pairs, strict=True)):.2f}."


def _lenient(answers: Sequence[Answer]) -> str:
    hits = sum(right(a.throughput, CONSTANT) for a in answers)
    return (
        "The count is lenient, for nearly all published gains are small or positive: "
        f"{CONSTANT:+.0f} % for every row would be right in {hits}. The rank correlation says more."
    )


def _per_cpu(answers: Sequence[Answer]) -> str:
    hits = sum(right(a.per_cpu, a.cell.per_cpu.percent) for a in answers)
    return f"Of the gains in throughput per CPU {hits} are right."


def _inside(answers: Sequence[Answer]) -> str:
    pairs = [(a.throughput, a.cell.throughput) for a in answers]
    pairs += [(a.per_cpu, a.cell.per_cpu) for a in answers]
    inside = sum(_within(value, gain) for value, gain in pairs)
    return f"Of all {len(pairs)} published values {inside} are inside the simulated interval."


def _within(value: float, gain: Gain) -> bool:
    return gain.low <= value <= gain.high


def _miss(answer: Answer, answers: Iterable[Answer]) -> str:
    simulated = answer.cell.throughput.percent
    gains = f"published {_signed(answer.throughput)} %, simulated {simulated:+.1f} %"
    where = f"{answer.cell.message_bytes} bytes, {_sessions(answer)}"
    return f"- {where} ({gains}): {why(answer, answers)}.\n"


def _signed(percent: float) -> str:
    return f"{percent:+.0f}" if percent else "0"


def _score(score: Score) -> str:
    kib = score.send_buffer_bytes // 1024
    return f"| {kib} | {score.right} of {score.of} | {score.rank_correlation:.2f} |\n"


def _sessions(answer: Answer) -> str:
    return "1 session" if answer.cell.sessions == 1 else f"{answer.cell.sessions} sessions"
