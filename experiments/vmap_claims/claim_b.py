"""(reviewer) One block copy for a single used element is slower than two word writes."""

from dataclasses import replace
from typing import Any

from vringlab import AccessPlan, Result, Scenario
from vringlab.experiments.vmap_claims.base import USER, VMAP, Runs, gain_percent, scenario
from vringlab.experiments.vmap_claims.question import Question

TITLE = "One block copy for a single used element is slower than two word writes"
SECTION = AccessPlan(user_access="section")
PLANS = {"user": USER, "section": SECTION, "mapped": VMAP}
HOSTS = {"ERMS": "broadwell-2.6", "FSRM": "icelake-2.9"}
KERNELS = ("v5.0", "v5.0-nosmap", "v5.0-hardened", "v6.2")


def pair(plan: AccessPlan = USER, **changes: Any) -> tuple[Scenario, Scenario]:
    """Two word writes, and one block; a batch of one, so that each flush has one element."""
    kinds = ("two_words", "block")
    plans = [replace(plan, used_element=kind) for kind in kinds]
    words, block = (scenario(batch=1, plan=p, **changes) for p in plans)
    return words, block


def extra_ns(words: Result, block: Result) -> float:
    """What the block costs more, in the worker's time a packet."""
    return block.busy_ns_per_packet() - words.busy_ns_per_packet()


def question(name: str, where: str, plan: AccessPlan = USER, **changes: Any) -> Question:
    return Question(
        id=f"b.{name}",
        who="reviewer",
        statement=f"one block copy is slower than two word writes: {where}",
        scenarios=pair(plan, **changes),
        quantity="extra time of the block, a packet",
        unit="ns",
        measure=extra_ns,
        at_least=0,
    )


QUESTIONS = (
    question("user", "SMAP on, ERMS"),
    question("nosmap", "SMAP off, ERMS", kernel="v5.0-nosmap"),
    question("hardened", "SMAP on, ERMS, hardened usercopy", kernel="v5.0-hardened"),
    question("fsrm", "SMAP on, FSRM", host=HOSTS["FSRM"]),
    question("section", "inside a section, ERMS", SECTION),
    question("mapped", "used ring mapped", VMAP),
)

NOTE = (
    "Two words pay toggle and check twice, the block pays the start of a string copy and a "
    "call: the toggle pair against the start-up decides. Where the toggles are gone or already "
    "paid by a section, the words win. Through a mapping the block is one store of 8 bytes, "
    "guarded once. A published row, usedelem2019, has the block ahead: experiments/vmap holds "
    "the model against it."
)
COLUMNS = ("copies", "kernel", "access", "two_words_mpps", "block_mpps", "extra_ns", "gain_percent")


def table(run: Runs) -> list[tuple[object, ...]]:
    cases = [(h, k, p) for h in HOSTS for k in KERNELS for p in PLANS]
    pairs = [pair(PLANS[p], host=HOSTS[h], kernel=k) for h, k, p in cases]
    words = run(two for two, _ in pairs)
    block = run(one for _, one in pairs)
    return [
        (*case, w.rate_mpps, b.rate_mpps, extra_ns(w, b), gain_percent(w, b))
        for case, w, b in zip(cases, words, block, strict=True)
    ]
