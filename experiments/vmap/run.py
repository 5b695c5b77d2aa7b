"""What does direct access to vhost's ring metadata gain over user access, SMAP on and off?

The metadata of a ring are in guest memory. By user access each read or write of them toggles SMAP,
checks the address and waits at a speculation barrier; direct access maps the ring once instead.
"""

from pathlib import Path

from vringlab import AccessPlan, Scenario, compare, predict
from vringlab.experiments.vmap import figures, tables
from vringlab.experiments.vmap.fit import MEASUREMENT_SIGMA, calibration_points, committed_fit
from vringlab.experiments.vmap.report import print_report
from vringlab.published import load_published
from vringlab.validation import gain_row, rate_row, write_rows

SEED = 1
SOURCES = ("vmap-2018", "vmap-2019")

# The guest: testpmd txonly over virtio-user, which polls its ring and never waits for a call. The
# host: a vhost worker that copies each frame to an XDP buffer and gives 64 at once to a TAP whose
# XDP program drops them. Thousands of packets after the first, the rate is steady.
TX = Scenario(guest="virtio-user", packet_bytes=64, ring_size=256, batch=64, packets=20_000)
# The processor of the first posting has no name, nor has that of the used element's measurement: a
# server of its time with an unknown clock. SMAP was on.
UNNAMED = TX.replace(host="unnamed-2018", kernel="v5.0")
SMAP_ON = TX.replace(host="broadwell-2.6", kernel="v5.0")
SMAP_OFF = TX.replace(host="broadwell-2.6", kernel="v5.0-nosmap")

USER = AccessPlan.user()
# The first posting mapped at SET_VRING_ADDR for good; the merged series guards its mapping by RCU.
MAPPED_UNGUARDED, MAPPED = AccessPlan.vmap(guard="none"), AccessPlan.vmap(guard="rcu")
TWO_WORDS, BLOCK = AccessPlan(used_element="two_words"), AccessPlan(used_element="block")

RATES = {
    "vmap.before": UNNAMED.replace(plan=USER),
    "vmap.after": UNNAMED.replace(plan=MAPPED_UNGUARDED),
    "vmap2019.smap_on.before": SMAP_ON.replace(plan=USER),
    "vmap2019.smap_on.after": SMAP_ON.replace(plan=MAPPED),
    "vmap2019.smap_off.before": SMAP_OFF.replace(plan=USER),
    "vmap2019.smap_off.after": SMAP_OFF.replace(plan=MAPPED),
}
# usedelem2019, by the number of used elements written at once. The kernel writes 64, which are one
# block under both plans: they can only differ where each element is written alone.
USED_ELEMENT = {
    batch: tuple(UNNAMED.replace(plan=plan, batch=batch) for plan in (TWO_WORDS, BLOCK))
    for batch in (TX.batch, 1)
}
PAIRS = ("vmap", "vmap2019.smap_on", "vmap2019.smap_off")


def main(folder: Path, check: bool) -> None:
    """Writes the tables and figures of results/vmap."""
    published = {row.id: row for row in load_published() if row.source in SOURCES}
    assert set(published) == {*RATES, "usedelem2019"}, "each published row has a scenario"
    fit = committed_fit(calibration_points(published.values(), RATES))

    asked = [*RATES.values(), *USED_ELEMENT[TX.batch], *USED_ELEMENT[1]]
    answers = predict(asked, fit, seed=SEED, measurement_sigma=MEASUREMENT_SIGMA)
    predicted = dict(zip(asked, answers, strict=True))
    gains = {n: predicted[b].gain_over(predicted[a]) for n, (a, b) in USED_ELEMENT.items()}
    results = {name: predicted[scenario].result for name, scenario in RATES.items()}
    comparisons = {
        name: compare(results[f"{name}.before"], results[f"{name}.after"]) for name in PAIRS
    }
    rows = [
        rate_row(row, predicted[RATES[name]]) if name in RATES else gain_row(row, gains[TX.batch])
        for name, row in published.items()
    ]

    write_rows(folder / "table.csv", rows)
    tables.write_waterfall(folder / "waterfall.csv", comparisons)
    tables.write_posterior(folder / "posterior.csv", fit)
    tables.write_used_element(folder / "used_element.csv", gains)
    figures.draw_predicted(folder / "predicted", rows)
    figures.draw_direct_access(folder / "waterfall", comparisons)
    print_report(rows, gains[1])
    assert all(c.gain_percent > 0 for c in comparisons.values()), "direct access is faster"
