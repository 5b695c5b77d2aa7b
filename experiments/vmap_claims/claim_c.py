"""(reviewer) Sections give most of the gain of a mapping. (author) Only if one spans two areas."""

from collections.abc import Callable
from itertools import combinations

from vringlab import AccessPlan, Result
from vringlab.experiments.vmap_claims.base import (
    USER,
    VMAP,
    Runs,
    busy_ns,
    count,
    gain_percent,
    scenario,
)
from vringlab.experiments.vmap_claims.question import Question

TITLE = "Sections give most of the gain of a mapping; only if one section spans two of the areas"
AREAS = ("desc", "avail", "used")
ONE = AccessPlan(user_access="section")
SEVERAL = AccessPlan(user_access="section", section_span="several_areas")
PLANS = {
    "masked": AccessPlan(user_access="masked"),
    "section, one area": ONE,
    "section, several areas": SEVERAL,
    "shared fixup, one area": AccessPlan(user_access="shared_fixup"),
    "shared fixup, several areas": AccessPlan(
        user_access="shared_fixup", section_span="several_areas"
    ),
} | {
    "map " + "+".join(areas): AccessPlan(mapped=frozenset(areas))
    for n in (1, 2, 3)
    for areas in combinations(AREAS, n)
}


def share_percent(user: Result, mapped: Result, other: Result) -> float:
    """The part of the mapping's gain that the other plan has."""
    return 100 * gain_percent(user, other) / gain_percent(user, mapped)


def used_step_percent(user: Result, section: Result) -> float:
    """What a section around the used ring saves, of the worker's whole time."""
    saved = busy_ns(user, step="used") - busy_ns(section, step="used")
    return 100 * saved / user.busy_ns_per_packet()


def most(name: str, what: str, plan: AccessPlan) -> Question:
    return Question(
        id=f"c.{name}",
        who="reviewer",
        statement=f"{what} gives most of the gain of a mapping",
        scenarios=(scenario(), scenario(plan=VMAP), scenario(plan=plan)),
        quantity="share of the gain of mapping all three areas",
        unit="%",
        measure=share_percent,
        at_least=50,
    )


def nothing(
    name: str, what: str, measure: Callable[..., float], plan: AccessPlan, split: bool = False
) -> Question:
    return Question(
        id=f"c.{name}",
        who="author",
        statement=f"{what} gains nothing",
        scenarios=(scenario(split_header=split), scenario(split_header=split, plan=plan)),
        quantity="gain",
        unit="%",
        measure=measure,
        at_most=1,
    )


QUESTIONS = (
    most("one_area", "a section over one area", ONE),
    most("several_areas", "a section over avail entry and descriptor", SEVERAL),
    most("shared_fixup", "the same with a shared fixup", PLANS["shared fixup, several areas"]),
    nothing("alone", "a section over one area", gain_percent, ONE),
    nothing("chains", "a section over one area, chains of two,", gain_percent, ONE, split=True),
    nothing("used", "a section over the used ring alone", used_step_percent, ONE),
)

NOTE = (
    "A packet of one descriptor reads one avail entry and one descriptor: a section over one "
    "area holds one access, so it saves nothing. One over both saves toggles, a check and a "
    "barrier a packet. A chain of two descriptors has two reads in one area, and then one area "
    "is enough to save as much. The used ring is written once a batch whatever the plan. A "
    "barrier that stays waits for what the one before it no longer does: mapping both areas "
    "that are read gains more than the sum of each."
)
COLUMNS = ("chain", "plan", "mpps", "gain_percent", "share_of_mapping_percent", "toggles_a_packet")


def table(run: Runs) -> list[tuple[object, ...]]:
    rows: list[tuple[object, ...]] = []
    for chain, split in (("one descriptor", False), ("header apart", True)):
        user, mapped = run(scenario(split_header=split, plan=plan) for plan in (USER, VMAP))
        others = run(scenario(split_header=split, plan=plan) for plan in PLANS.values())
        for name, r in zip(PLANS, others, strict=True):
            gain, share = gain_percent(user, r), share_percent(user, mapped, r)
            rows.append((chain, name, r.rate_mpps, gain, share, toggles(r)))
    return rows


def toggles(result: Result) -> float:
    return count(result, cost="stac_clac") / result.packets
