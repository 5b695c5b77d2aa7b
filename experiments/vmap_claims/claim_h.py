"""Which guard of a mapping that can be invalidated keeps how much of its gain?"""

from vringlab import AccessPlan, Result
from vringlab.experiments.vmap_claims.base import USER, Runs, gain_percent, scenario
from vringlab.experiments.vmap_claims.question import Question

TITLE = "Which guard of a mapping that can be invalidated keeps how much of the gain?"
GUARDS = ("none", "rcu", "counter", "spinlock", "atomic")
KERNELS = {"SMAP on": "v5.0", "SMAP off": "v5.0-nosmap"}
RATES = (0, 1, 10, 100, 1000)
STEADY = 600_000  # packets after which the start doesn't show
FASTEST_PPS = 8e6  # a run of a second's packets sees one second, or more


def kept_percent(user: Result, unguarded: Result, guarded: Result) -> float:
    return 100 * gain_percent(user, guarded) / gain_percent(user, unguarded)


def question(guard: str, smap: str) -> Question:
    plans = (USER, AccessPlan.vmap("none"), AccessPlan.vmap(guard))
    return Question(
        id=f"h.{guard}.{smap[5:]}",
        who="both",
        statement=f"{guard} keeps at least half of the gain, {smap}",
        scenarios=tuple(scenario(kernel=KERNELS[smap], plan=plan) for plan in plans),
        quantity="share of the gain without a guard",
        unit="%",
        measure=kept_percent,
        at_least=50,
    )


QUESTIONS = tuple(question(guard, smap) for smap in KERNELS for guard in GUARDS[1:])

NOTE = (
    "A guard is taken and dropped for each access to the ring. The full barriers of counter, "
    "lock and atomic wait for outstanding loads as the speculation barrier does that the "
    "mapping did away with. After an invalidation the worker uses user access until it next "
    "starts a run of its loop, and then maps again. Under RCU whoever invalidates waits for a "
    "grace period, which bounds how often it can."
)
COLUMNS = (
    "kernel",
    "guard",
    "invalidations_per_s",
    "packets",
    "mpps",
    "gain_percent",
    "kept_percent",
    "lost_percent",
    "invalidations",
    "invalidator_us_each",
)


def packets(rate: int) -> int:
    """Enough to see an invalidation, ten where they come fast."""
    return max(60_000, int(FASTEST_PPS / rate)) if rate else 20_000


def table(run: Runs) -> list[tuple[object, ...]]:
    """Each run beside one as long, or as good as, with user access, and one left alone."""
    cases = [("SMAP on", guard, rate) for guard in GUARDS for rate in RATES]
    cases += [("SMAP off", guard, 0) for guard in GUARDS]
    rows: list[tuple[object, ...]] = []
    for smap, guard, rate in cases:
        base = scenario(kernel=KERNELS[smap], packets=min(packets(rate), STEADY))
        plans = (USER, AccessPlan.vmap("none"), AccessPlan.vmap(guard))
        user, unguarded, alone = run(base.replace(plan=plan) for plan in plans)
        hit = alone.scenario.replace(packets=packets(rate), invalidations_per_s=rate)
        (r,) = run([hit])
        gains = gain_percent(user, r), kept_percent(user, unguarded, r), -gain_percent(alone, r)
        events = r.invalidations, invalidator_us(r)
        rows.append((smap, guard, rate, r.packets, r.rate_mpps, *gains, *events))
    return rows


def invalidator_us(r: Result) -> float | None:
    """Time of whoever invalidates, each; the set-up before and the end are not its own."""
    if not r.invalidations:
        return None
    return (r.core("control").busy_ps - r.setup_ps - r.teardown_ps) / r.invalidations / 1e6
