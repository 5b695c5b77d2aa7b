"""(reviewer) Serving a few packets at the kick cuts latency under light load, unfair streaming."""

from typing import Any

from vringlab import Result, Scenario
from vringlab.experiments.vmap_claims.base import Runs, scenario
from vringlab.experiments.vmap_claims.question import Question

TITLE = "Serving a few packets at the kick cuts latency under light load, and is unfair streaming"
INLINE = (0, 1, 4, 16, 64)
LOADS = (1e3, 1e4, 1e5, 2e5, 5e5, 1e6, 1.5e6, 2e6, 3e6, 4e6)
ARRIVALS = ("periodic", "poisson")
FEW, MANY = 4, 64
LIGHT_PPS = 1e4
STREAM_PPS = 2e6


def vm(inline: int, **changes: Any) -> Scenario:
    return scenario(guest="vm", event_idx=True, inline_packets=inline, **changes)


def device_share_percent(result: Result) -> float:
    """Of the elapsed time: what the guest's core spends on the device's work."""
    rows = (row for row in result.core("guest").ledger if not row.step.startswith("guest_"))
    return 100 * sum(row.ps for row in rows) / result.elapsed_ps


def busy_percent(result: Result, core: str) -> float:
    return 100 * result.core(core).busy_ps / result.elapsed_ps


def latency_cut_percent(woken: Result, inline: Result) -> float:
    return 100 * (1 - inline.latency.p50_ps / woken.latency.p50_ps)


def rate_loss_percent(woken: Result, inline: Result) -> float:
    return 100 * (1 - inline.rate_pps / woken.rate_pps)


def bursts(inline: int) -> Question:
    return Question(
        id=f"f.bursts_{inline}",
        who="reviewer",
        statement=f"streaming in bursts of 32, {inline} packets at the kick, does the same",
        scenarios=(vm(inline),),
        quantity="guest core's time in device work, as fast as it can",
        unit="%",
        measure=device_share_percent,
        at_least=10,
    )


STREAM = (vm(0, offered_pps=STREAM_PPS), vm(FEW, offered_pps=STREAM_PPS))
QUESTIONS = (
    Question(
        id="f.latency",
        who="reviewer",
        statement="four packets at the kick cut the median latency at 10 thousand a second",
        scenarios=(vm(0, offered_pps=LIGHT_PPS), vm(FEW, offered_pps=LIGHT_PPS)),
        quantity="median latency saved",
        unit="%",
        measure=latency_cut_percent,
        at_least=10,
    ),
    Question(
        id="f.unfair",
        who="reviewer",
        statement="streaming packet by packet puts the device's work on the guest's core",
        scenarios=STREAM[1:],
        quantity="guest core's time in device work, 2 million a second offered",
        unit="%",
        measure=device_share_percent,
        at_least=10,
    ),
    Question(
        id="f.rate",
        who="reviewer",
        statement="streaming packet by packet costs the guest rate",
        scenarios=STREAM,
        quantity="rate lost, 2 million a second offered",
        unit="%",
        measure=rate_loss_percent,
        at_least=10,
    ),
    bursts(FEW),
    bursts(MANY),
)

NOTE = (
    "Latency runs from the guest's add to the sink: what a guest whose core is full can't add "
    "has none yet, so look at the rate beside it. A kick that serves leaves the worker asleep; "
    "the next packet kicks again, and so on: the worker never gets the queue while packets come "
    "one by one. A burst above the limit wakes the worker, which then stays awake."
)
COLUMNS = (
    "arrival",
    "offered_pps",
    "inline_packets",
    "rate_pps",
    "latency_p50_us",
    "latency_p99_us",
    "guest_device_percent",
    "guest_busy_percent",
    "worker_busy_percent",
    "kicks",
    "wakeups",
    "served_at_kick",
)


def table(run: Runs) -> list[tuple[object, ...]]:
    """offered_pps 0: as fast as the guest can, in bursts of 32."""
    loads = [(arrival, pps) for arrival in ARRIVALS for pps in LOADS] + [("bursts", 0.0)]
    cases = [(arrival, pps, n) for arrival, pps in loads for n in INLINE]
    return [(*case, *figures(r)) for case, r in zip(cases, run(map(_set, cases)), strict=True)]


def _set(case: tuple[str, float, int]) -> Scenario:
    arrival, pps, inline = case
    return vm(inline, offered_pps=pps, arrival=arrival) if pps else vm(inline)


def figures(r: Result) -> tuple[object, ...]:
    latency = (r.latency.p50_ps / 1e6, r.latency.p99_ps / 1e6)
    busy = (busy_percent(r, "guest"), busy_percent(r, "worker"))
    events = (r.kicks, r.wakeups, r.inline_packets)
    return (r.rate_pps, *latency, device_share_percent(r), *busy, *events)
