"""What a batch costs in latency, from light load to heavy."""

from collections.abc import Sequence
from itertools import product
from typing import Any

from vringlab import Result, Scenario
from vringlab.experiments.xdp_batch.base import SEED, SWEEP, Run

TITLE = "Latency from add to socket, over load, Poisson arrivals"
BATCHES = (1, 16, 64)
LOADS = tuple(range(10, 100, 10))
SHARES = ("own", "batch 1")
"""Whose saturated rate the load is a share of: that of the batch itself, or of one at a time."""
COLUMNS = (
    "share_of",
    "load_percent",
    "batch",
    "offered_pps",
    "latency_p50_us",
    "latency_p99_us",
    "packets_a_call",
    "wakeups",
)


def table(run: Run) -> list[tuple[object, ...]]:
    saturated = {b: r.rate_pps for b, r in zip(BATCHES, run(map(_base, BATCHES)), strict=True)}
    cases = list(product(SHARES, LOADS, BATCHES))
    results = run(_offered(saturated, case) for case in cases)
    return [_row(case, result) for case, result in zip(cases, results, strict=True)]


def answer(rows: Sequence[dict[str, Any]]) -> str:
    light, heavy = LOADS[0], LOADS[-1]
    return (
        f"Simulated, at {light} % of their own saturated rate {BATCHES[-1]} at once take "
        f"{_against(rows, 'own', light)}, at {heavy} % {_against(rows, 'own', heavy)}; at the same "
        f"rate for both, {light} % and {heavy} % of what one at a time can do, they take "
        f"{_against(rows, SHARES[1], light)} and {_against(rows, SHARES[1], heavy)}. "
        f"{_lowest(rows)}"
    )


def _base(batch: int) -> Scenario:
    return SWEEP.replace(batch=batch, guest_notify="poll")


def _offered(saturated: dict[int, float], case: tuple[str, int, int]) -> Scenario:
    share, load, batch = case
    most = saturated[batch if share == "own" else BATCHES[0]]
    return _base(batch).replace(offered_pps=most * load / 100, arrival="poisson", seed=SEED)


def _row(case: tuple[str, int, int], r: Result) -> tuple[object, ...]:
    latency = (r.latency.p50_ps / 1e6, r.latency.p99_ps / 1e6)
    return (*case, r.scenario.offered_pps, *latency, r.packets / r.batches, r.wakeups)


def _row_of(rows: Sequence[dict[str, Any]], share: str, load: int, batch: int) -> dict[str, Any]:
    wanted = {"share_of": share, "load_percent": load, "batch": batch}
    (row,) = [row for row in rows if wanted.items() <= row.items()]
    return row


def _against(rows: Sequence[dict[str, Any]], share: str, load: int) -> str:
    one, many = (_row_of(rows, share, load, batch) for batch in (BATCHES[0], BATCHES[-1]))
    return (
        f"{many['latency_p50_us']:.1f} µs in the median and {many['latency_p99_us']:.1f} at 99 % "
        f"(one at a time: {one['latency_p50_us']:.1f} and {one['latency_p99_us']:.1f})"
    )


def _lowest(rows: Sequence[dict[str, Any]]) -> str:
    """The batch with the lowest 99 % at the same rate, by load."""
    best: dict[int, list[str]] = {}
    for load in LOADS:
        own = [_row_of(rows, SHARES[1], load, batch) for batch in BATCHES]
        lowest = min(own, key=lambda row: float(row["latency_p99_us"]))
        best.setdefault(lowest["batch"], []).append(str(load))
    parts = (
        f"{batch} a call at {', '.join(loads)} % of that load" for batch, loads in best.items()
    )
    return f"At the same rate the lowest 99 % is that of {'; '.join(parts)}."
