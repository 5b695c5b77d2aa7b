"""(reviewer) Pinning for ever costs: bytes pinned, no huge pages, no migration."""

from vringlab import Result
from vringlab.experiments.vmap_claims.base import USER, VMAP, Runs, busy_ns, gain_percent, scenario
from vringlab.experiments.vmap_claims.question import Question

TITLE = "Pinning for ever costs: bytes pinned, no huge pages, no migration between nodes"
SIZES = (256, 512, 1024, 2048, 4096, 8192, 16384, 32768)
OFFSETS = (0, 2048)
PAGES = (4096, 2097152)
PLANS = {"user": USER, "mapped": VMAP}
# Where worker and ring are, seen from the guest's core.
PLACES = {
    "together": {},
    "ring stayed behind": {"ring_remote": True},
    "worker moved away": {"distance": "remote"},
    "worker moved, ring remote": {"distance": "remote", "ring_remote": True},
}
BIG = 4096
BIG_PACKETS = 2 * BIG  # so that the ring goes round


def pinned_mib(result: Result) -> float:
    return result.pinned_bytes / 2**20


def tlb_percent(user: Result, mapped: Result) -> float:
    """What base pages cost in look-ups, of the worker's time."""
    more = busy_ns(mapped, cost="tlb") - busy_ns(user, cost="tlb")
    return 100 * more / mapped.busy_ns_per_packet()


def loss_percent(near: Result, far: Result) -> float:
    return -gain_percent(near, far)


BIG_RING = [scenario(ring_size=BIG, packets=BIG_PACKETS, plan=plan) for plan in (USER, VMAP)]
STAYED = scenario(plan=VMAP, ring_remote=True)
QUESTIONS = (
    Question(
        id="g.bytes",
        who="reviewer",
        statement="the largest ring pins a megabyte or more",
        scenarios=(scenario(ring_size=32768, ring_offset=2048, packets=1000, plan=VMAP),),
        quantity="pinned by a ring of 32768, its start inside a page",
        unit="MiB",
        measure=pinned_mib,
        at_least=1,
        fixed=True,
    ),
    Question(
        id="g.tlb",
        who="reviewer",
        statement="base pages in place of a huge page cost one percent or more",
        scenarios=tuple(BIG_RING),
        quantity=f"extra TLB time, ring of {BIG}, guest in 2 MiB pages",
        unit="%",
        measure=tlb_percent,
        at_least=1,
    ),
    Question(
        id="g.remote",
        who="reviewer",
        statement="a ring that stays behind when guest and worker move costs one percent or more",
        scenarios=(scenario(plan=VMAP), STAYED),
        quantity="rate lost",
        unit="%",
        measure=loss_percent,
        at_least=1,
    ),
    Question(
        id="g.worse",
        who="reviewer",
        statement="a mapped ring left behind is slower than an unmapped one that followed",
        scenarios=(scenario(), STAYED),
        quantity="gain left",
        unit="%",
        measure=gain_percent,
        at_most=0,
    ),
)

NOTE = (
    "Pinned are whole base pages of the three areas; a start inside a page may add one. The "
    "ring is walked in order, so a page serves 256 descriptors before the next is looked up. A "
    "huge page that holds a pinned page can't be moved or compacted either: the model has no "
    "cost for that. Only the ring stays behind; frame buffers and tables migrate."
)
COLUMNS = (
    "ring_size",
    "ring_offset",
    "guest_page_bytes",
    "access",
    "place",
    "mpps",
    "tlb_ns",
    "remote_ns",
    "pinned_bytes",
    "frames_bytes",
    "setup_us",
    "teardown_us",
)


def table(run: Runs) -> list[tuple[object, ...]]:
    sizes = [(n, offset, page) for n in SIZES for offset in OFFSETS for page in PAGES]
    reach = [(*size, access, "together") for size in sizes for access in PLANS]
    moved = [(256, 0, PAGES[1], p, place) for p in PLANS for place in PLACES if PLACES[place]]
    results = run(
        scenario(
            ring_size=n,
            ring_offset=offset,
            guest_page_bytes=page,
            plan=PLANS[access],
            packets=max(20_000, 2 * n),
            **PLACES[place],
        )
        for n, offset, page, access, place in reach + moved
    )
    return [(*case, *figures(r)) for case, r in zip(reach + moved, results, strict=True)]


def figures(r: Result) -> tuple[object, ...]:
    frames = (r.scenario.ring_size + r.scenario.guest_burst) * 2176
    costs = busy_ns(r, cost="tlb"), busy_ns(r, cost="remote_home")
    return (r.rate_mpps, *costs, r.pinned_bytes, frames, r.setup_ps / 1e6, r.teardown_ps / 1e6)
