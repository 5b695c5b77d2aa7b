"""(author) Batching the payload copies to save toggles gains nothing."""

from typing import Any

from vringlab import Scenario
from vringlab.experiments.vmap_claims.base import USER, VMAP, Runs, count, gain_percent, scenario
from vringlab.experiments.vmap_claims.question import Question

TITLE = "Batching the payload copies to save toggles gains nothing"
SIZES = (1, 4, 16, 64)
PLANS = {"user": USER, "mapped": VMAP}
KERNELS = ("v5.0", "v5.0-nosmap", "v6.2")
COPIES = ("header_copy", "payload_copy")


def pair(**changes: Any) -> tuple[Scenario, Scenario]:
    return scenario(**changes), scenario(copy_batch=64, **changes)


def question(name: str, where: str, **changes: Any) -> Question:
    return Question(
        id=f"d.{name}",
        who="author",
        statement=f"batching the payload copies gains nothing: {where}",
        scenarios=pair(**changes),
        quantity="gain of 64 copies in one section",
        unit="%",
        measure=gain_percent,
        at_most=1,
    )


QUESTIONS = (
    question("user", "SMAP on"),
    question("mapped", "SMAP on, ring mapped", plan=VMAP),
    question("nosmap", "SMAP off, ring mapped", plan=VMAP, kernel="v5.0-nosmap"),
    question("barrier", "copies with a barrier each (6.2), ring mapped", plan=VMAP, kernel="v6.2"),
)

NOTE = (
    "The model charges a copy inside a section as much as one outside, less toggles, check and "
    "barrier. A real one may be slower: it can't sleep on a fault, must not call into code that "
    "isn't cleared for open sections, and may lose the string copy. The flips say how dear the "
    "saved part must be for batching to pay; what the copy may lose is the gain itself."
)
COLUMNS = (
    "kernel",
    "access",
    "copy_batch",
    "mpps",
    "gain_percent",
    "copy_toggles",
    "packets",
    "saved_ns",
)


def table(run: Runs) -> list[tuple[object, ...]]:
    rows: list[tuple[object, ...]] = []
    for kernel in KERNELS:
        for name, plan in PLANS.items():
            results = run(scenario(kernel=kernel, plan=plan, copy_batch=n) for n in SIZES)
            for n, r in zip(SIZES, results, strict=True):
                saved = results[0].busy_ns_per_packet() - r.busy_ns_per_packet()
                toggles = sum(count(r, cost="stac_clac", step=step) for step in COPIES)
                gain = gain_percent(results[0], r)
                rows.append((kernel, name, n, r.rate_mpps, gain, toggles, r.packets, saved))
    return rows
