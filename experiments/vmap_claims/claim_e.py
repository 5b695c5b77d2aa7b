"""(reviewer) A shared fixup point for several reads gives the compiler room."""

from vringlab import AccessPlan
from vringlab.experiments.vmap_claims.base import Runs, busy_ns, count, gain_percent, scenario
from vringlab.experiments.vmap_claims.question import Question

TITLE = "A shared fixup point for several reads gives the compiler room: what is it worth?"
SPANS = ("one_area", "several_areas")


def plan(access: str, span: str) -> AccessPlan:
    return AccessPlan(user_access=access, section_span=span)


QUESTIONS = (
    Question(
        id="e.fixup",
        who="reviewer",
        statement="a shared fixup gains one percent or more over fixups apart",
        scenarios=tuple(scenario(plan=plan(a, SPANS[1])) for a in ("section", "shared_fixup")),
        quantity="gain over sections with a fixup an access",
        unit="%",
        measure=gain_percent,
        at_least=1,
    ),
)

NOTE = (
    "All that is known of the compiler's room is the row separate_fixup, a stated judgement: "
    "the gain is the number of accesses times it. The flip says how much one fixup must cost "
    "for the change to be seen."
)
COLUMNS = (
    "chain",
    "span",
    "apart_mpps",
    "shared_mpps",
    "gain_percent",
    "fixups",
    "packets",
    "fixup_ns",
    "saved_ns",
)


def table(run: Runs) -> list[tuple[object, ...]]:
    rows: list[tuple[object, ...]] = []
    for chain, split in (("one descriptor", False), ("header apart", True)):
        for span in SPANS:
            kinds = [plan(access, span) for access in ("section", "shared_fixup")]
            apart, shared = run(scenario(plan=p, split_header=split) for p in kinds)
            fixups = count(apart, cost="separate_fixup")
            each = busy_ns(apart, cost="separate_fixup") * apart.packets / fixups
            saved = apart.busy_ns_per_packet() - shared.busy_ns_per_packet()
            rates = apart.rate_mpps, shared.rate_mpps, gain_percent(apart, shared)
            rows.append((chain, span, *rates, fixups, apart.packets, each, saved))
    return rows
