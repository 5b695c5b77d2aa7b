"""What batching gains over frame size, batch and sink, with and without retpoline."""

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import product
from typing import Any

from vringlab import Result, Scenario, sinks
from vringlab.experiments.xdp_batch.base import SWEEP, Run

TITLE = "What batching gains over one packet a call"
BYTES = (64, 128, 256, 512, 1024, 1514)
BATCHES = (1, 4, 16, 64, 256)
KERNELS = {"on": "v5.0", "off": "v5.0-noretpoline"}
SINKS = tuple(sink.name for sink in sinks() if sink.name != "host_tcp")
"""All but the one that only takes TCP streams."""
BEFORE_BATCH = 64
"""Used elements that were given back at once before frames were batched."""
WARM = (
    "The loss of large frames where nothing behind the socket holds them rests on an assumption: a "
    "frame sent alone goes into one of two socket buffers that are always warm, while those of a "
    "batch are page fragments one after the other, more than the near caches hold."
)
COLUMNS = (
    "sink",
    "retpoline",
    "packet_bytes",
    "batch",
    "alone_mpps",
    "batched_mpps",
    "gain_percent",
    "gain_same_used_percent",
)
Case = tuple[str, str, int, int]


def table(run: Run) -> list[tuple[object, ...]]:
    """gain_percent: over a call a packet, used elements given back 64 at once; same_used: over one
    that gives them back as often as the batch does."""
    cases = list(product(SINKS, KERNELS, BYTES, BATCHES))
    batched = run(_scenario(case) for case in cases)
    alone = _alone(run, cases)
    return [_row(case, alone, result) for case, result in zip(cases, batched, strict=True)]


def answer(rows: Sequence[dict[str, Any]]) -> str:
    on = [row for row in rows if row["retpoline"] == "on"]
    small = [r for r in on if (r["packet_bytes"], r["batch"]) == (BYTES[0], BEFORE_BATCH)]
    large = [r for r in on if (r["packet_bytes"], r["batch"]) == (BYTES[-1], BEFORE_BATCH)]
    return (
        f"Simulated, {BEFORE_BATCH} buffers at once gain {_span(small)} with frames of {BYTES[0]} "
        f"bytes and {_span(large)} with {BYTES[-1]}; of the batches tried, {_best(on)}. "
        f"It does not pay in {_losses(on)}. {WARM} "
        f"Without retpoline the gain is {_retpoline(rows)}."
    )


def _scenario(case: Case) -> Scenario:
    sink, retpoline, size, batch = case
    return SWEEP.replace(
        sink=sink, kernel=KERNELS[retpoline], packet_bytes=size, batch=batch, packets=8_000
    )


def _alone(run: Run, cases: Iterable[Case]) -> dict[Case, Result]:
    """One packet a call; the batch is that of used elements."""
    wanted = list(dict.fromkeys((*case[:3], b) for case in cases for b in (case[3], BEFORE_BATCH)))
    results = run(_scenario(case).replace(tx_batching=False) for case in wanted)
    return dict(zip(wanted, results, strict=True))


def _row(case: Case, alone: dict[Case, Result], batched: Result) -> tuple[object, ...]:
    before = alone[(*case[:3], BEFORE_BATCH)]
    gains = (100 * (batched.rate_pps / base.rate_pps - 1) for base in (before, alone[case]))
    return (*case, before.rate_mpps, batched.rate_mpps, *gains)


def _span(rows: Sequence[dict[str, Any]]) -> str:
    """The smallest and the largest gain of a row."""
    low, high = (f(rows, key=_gain) for f in (min, max))
    return f"{_gain(low):.0f} % ({low['sink']}) to {_gain(high):.0f} % ({high['sink']})"


def _best(rows: Sequence[dict[str, Any]]) -> str:
    groups: dict[tuple[str, int], list[dict[str, Any]]] = {}
    for row in rows:
        groups.setdefault((row["sink"], row["packet_bytes"]), []).append(row)
    wins = Counter(max(group, key=_gain)["batch"] for group in groups.values())
    parts = ", ".join(f"{batch} in {wins[batch]}" for batch in sorted(wins))
    return f"the best is {parts} of {len(groups)} pairs of sink and size"


def _losses(rows: Sequence[dict[str, Any]]) -> str:
    lost = [row for row in rows if _gain(row) <= 0]
    ones = [row for row in lost if row["batch"] == 1]
    rest = [row for row in lost if row["batch"] > 1]
    text = (
        f"{len(lost)} of {len(rows)} cases: {len(ones)} with a batch of one, which gives back used "
        f"elements one by one ({_gain(min(ones, key=_gain)):.0f} % at worst)"
    )
    if rest:
        names = ", ".join(sorted({f"{r['sink']} at {r['packet_bytes']} bytes" for r in rest}))
        text += f", and {len(rest)} with more ({names})"
    return text


def _retpoline(rows: Sequence[dict[str, Any]]) -> str:
    """With more than one buffer a call."""
    gains = {(r["retpoline"], r["sink"], r["packet_bytes"], r["batch"]): _gain(r) for r in rows}
    lost = [g - gains[("off", *k[1:])] for k, g in gains.items() if k[0] == "on" and k[3] > 1]
    return f"{min(lost):.1f} to {max(lost):.1f} points smaller where there is more than one buffer"


def _gain(row: dict[str, Any]) -> float:
    return float(row["gain_percent"])
