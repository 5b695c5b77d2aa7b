"""(author) Direct access gains about a fifth in packets, and nothing for large TCP streams."""

from vringlab import Result
from vringlab.experiments.vmap_claims.base import USER, VMAP, Runs, gain_percent, scenario
from vringlab.experiments.vmap_claims.question import Question

TITLE = "Direct access gains about a fifth in packets a second, nothing for large TCP streams"
HOSTS = ("broadwell-2.6", "icelake-2.9", "zen2-3.3")
KERNELS = ("v5.0", "v5.0-nosmap", "v6.2", "bare")

STREAMS = scenario(
    workload="stream", sink="host_tcp", guest="vm", message_bytes=65535, sessions=4, stream_ms=2
)


def throughput_gain(before: Result, after: Result) -> float:
    """In gigabits a second."""
    return 100 * (after.throughput_gbps / before.throughput_gbps - 1)


QUESTIONS = (
    Question(
        id="a.packets",
        who="author",
        statement="direct access gains about a fifth in packets a second",
        scenarios=(scenario(), scenario(plan=VMAP)),
        quantity="gain of mapping all three areas",
        unit="%",
        measure=gain_percent,
        at_least=15,
        at_most=25,
    ),
    Question(
        id="a.nosmap",
        who="author",
        statement="without SMAP it still gains a tenth",
        scenarios=(scenario(kernel="v5.0-nosmap"), scenario(kernel="v5.0-nosmap", plan=VMAP)),
        quantity="gain of mapping all three areas, SMAP off",
        unit="%",
        measure=gain_percent,
        at_least=10,
    ),
    Question(
        id="a.tcp",
        who="author",
        statement="direct access gains nothing for large TCP streams",
        scenarios=(STREAMS, STREAMS.replace(plan=VMAP)),
        quantity="gain of mapping all three areas of both queues, four streams of 64 KiB writes",
        unit="%",
        measure=throughput_gain,
        at_least=-2,
        at_most=2,
    ),
)

NOTE = (
    "The toggles and barriers of ring accesses are what a mapping saves; those of the header "
    "and payload copies stay. Without SMAP only barriers, checks and call overhead are left to "
    "save. A stream of large writes touches the ring once for many segments, so there is next to "
    "nothing to save."
)
COLUMNS = ("host", "kernel", "user_mpps", "mapped_mpps", "gain_percent", "saved_ns")


def table(run: Runs) -> list[tuple[object, ...]]:
    cases = [(host, kernel) for host in HOSTS for kernel in KERNELS]
    user = run(scenario(host=h, kernel=k, plan=USER) for h, k in cases)
    mapped = run(scenario(host=h, kernel=k, plan=VMAP) for h, k in cases)
    return [
        (*case, u.rate_mpps, m.rate_mpps, gain_percent(u, m), u.ns_per_packet - m.ns_per_packet)
        for case, u, m in zip(cases, user, mapped, strict=True)
    ]
