"""The claims about direct access: what each number must obey, and that the files tell the same."""

import csv
import math
from itertools import pairwise
from pathlib import Path

import pytest
import vringlab as vl
from vringlab.experiments.vmap_claims import claim_b, claim_c, claim_d, claim_e, claim_f, claim_g
from vringlab.experiments.vmap_claims.base import VMAP, Runs, count, scenario
from vringlab.experiments.vmap_claims.flips import sensitivities
from vringlab.experiments.vmap_claims.run import CLAIMS

RESULTS = Path(__file__).parents[2] / "results" / "vmap_claims"
PACKETS = 4096
GUARDS = ("none", "rcu", "counter", "spinlock", "atomic")
QUESTIONS = [question for claim in CLAIMS for question in claim.QUESTIONS]


def run(*scenarios: vl.Scenario) -> list[vl.Result]:
    return Runs()(s.replace(packets=PACKETS) for s in scenarios)


def spent_ps(result: vl.Result, cost: str, *steps: str) -> int:
    rows = result.core().ledger
    return sum(r.ps for r in rows if r.cost == cost and (not steps or r.step in steps))


def row_ps(cost_row: str, used: vl.Scenario) -> int:
    """One occurrence of a row in cycles at the scenario's clock."""
    (best,) = [row.best for row in vl.cost_rows() if row.name == cost_row]
    (host,) = [host for host in vl.hosts() if host.name == used.host]
    cycles = used.costs.get(cost_row, best)
    return round(cycles * 1000 / used.costs.get("clock_ghz", host.clock_ghz[1]))


def test_a_mapping_leaves_the_toggles_of_the_copies_alone() -> None:
    user, mapped = run(scenario(), scenario(plan=VMAP))
    assert count(mapped, cost="stac_clac") == 2 * PACKETS
    assert count(user, cost="stac_clac") > 4 * PACKETS
    for step in claim_d.COPIES:
        assert count(user, cost="stac_clac", step=step) == PACKETS
    assert mapped.rate_pps > user.rate_pps


def test_b_block_against_words_is_startup_and_call_against_toggle_and_check() -> None:
    first, second = claim_b.pair()
    words, block = run(first, second)
    costs = ("stac_clac", "access_ok", "separate_fixup", "plain_access")
    copy = sum(spent_ps(block, c, "used") for c in ("copy_startup", "direct_call"))
    accesses = sum(spent_ps(words, c, "used") - spent_ps(block, c, "used") for c in costs)
    toggle, check, fixup, plain = (
        row_ps(name, first)
        for name in ("stac_clac_pair.intel", "access_ok", "separate_fixup", "plain_access")
    )
    startup = row_ps("rep_movs_startup.erms", first) + row_ps("direct_call", first)
    assert copy == PACKETS * startup
    # The index word is the other access of both; one element is two words or none.
    assert accesses == PACKETS * (toggle + check + 2 * fixup + 2 * plain)


@pytest.mark.parametrize("split", [False, True])
def test_c_no_plan_that_reaches_more_directly_is_slower(split: bool) -> None:
    names = list(claim_c.PLANS)
    results = run(*(scenario(split_header=split, plan=p) for p in claim_c.PLANS.values()))
    rates = {name: r.rate_pps for name, r in zip(names, results, strict=True)}
    (user,) = run(scenario(split_header=split))
    areas = {n: set(n.removeprefix("map ").split("+")) for n in names if n.startswith("map")}
    for less, some in areas.items():
        assert rates[less] >= user.rate_pps
        assert all(rates[more] >= rates[less] for more, all_ in areas.items() if some < all_)
    everything = rates["map desc+avail+used"]
    for kind in ("section", "shared fixup"):
        assert rates[f"{kind}, one area"] <= rates[f"{kind}, several areas"] < everything
    for span in ("one area", "several areas"):
        assert rates[f"section, {span}"] <= rates[f"shared fixup, {span}"]


@pytest.mark.parametrize("size", [4, 16, 64])
def test_d_saved_toggles_are_the_difference_of_the_ledgers(size: int) -> None:
    base = scenario(plan=VMAP)
    alone, batched = run(base, base.replace(copy_batch=size))
    saved = count(alone, cost="stac_clac") - count(batched, cost="stac_clac")
    sections = count(batched, cost="stac_clac", step="payload_copy")
    assert saved == 2 * PACKETS - sections
    assert PACKETS // size <= sections <= PACKETS // size + batched.batches
    difference = spent_ps(alone, "stac_clac") - spent_ps(batched, "stac_clac")
    assert difference == saved * row_ps("stac_clac_pair.intel", base)


def test_e_gain_is_the_number_of_accesses_times_the_row() -> None:
    apart, shared = run(*claim_e.QUESTIONS[0].scenarios)
    fixups = count(apart, cost="separate_fixup")
    assert count(shared, cost="separate_fixup") == 0
    assert fixups > 2 * PACKETS
    assert spent_ps(apart, "separate_fixup") == fixups * row_ps("separate_fixup", apart.scenario)
    saved = apart.core().busy_ps - shared.core().busy_ps
    assert saved == pytest.approx(spent_ps(apart, "separate_fixup"), rel=0.2)


def test_f_a_kick_that_serves_spares_the_wake_up_and_nobody_else() -> None:
    woken, inline = run(*claim_f.QUESTIONS[0].scenarios)
    assert (woken.wakeups, woken.inline_packets) == (PACKETS, 0)
    assert (inline.wakeups, inline.inline_packets) == (0, PACKETS)
    assert claim_f.device_share_percent(woken) == 0
    (wakeup,) = [r.best for r in vl.cost_rows() if r.name == "wakeup.cpu_awake"]
    wakeup = woken.scenario.costs.get("wakeup.cpu_awake", wakeup)
    assert woken.latency.p50_ps - inline.latency.p50_ps > wakeup * 1e6
    assert woken.latency.p50_ps <= woken.latency.p99_ps


def test_f_every_packet_is_served_by_one_of_them() -> None:
    for result in run(*(claim_f.vm(n, offered_pps=1e6) for n in claim_f.INLINE)):
        served = result.inline_packets + count(result, cost="xdp_program")
        assert served == PACKETS


@pytest.mark.parametrize("size", [2, 256, 4096, 32768])
@pytest.mark.parametrize("offset", [0, 16, 2048, 4080])
def test_g_pinned_are_the_pages_that_hold_a_byte_of_the_ring(size: int, offset: int) -> None:
    (result,) = run(scenario(ring_size=size, ring_offset=offset, plan=VMAP))
    # Areas begin at pages, but for the first. Flags and index are 2 bytes each.
    begins = {"desc": offset, "avail": 0, "used": 0}
    lengths = {"desc": 16 * size, "avail": 4 + 2 * size, "used": 4 + 8 * size}
    pages = sum(len({(begins[a] + i) // 4096 for i in range(lengths[a])}) for a in begins)
    assert result.pinned_bytes == 4096 * pages


def test_g_distance_costs_more_than_a_remote_home() -> None:
    places = [scenario(plan=VMAP, **place) for place in claim_g.PLACES.values()]
    together, stayed, away, both = (r.rate_pps for r in run(*places))
    assert together > stayed > away >= both


@pytest.mark.parametrize("kernel", ["v5.0", "v5.0-nosmap"])
def test_h_a_guard_costs_and_full_barriers_cost_more(kernel: str) -> None:
    plans = [vl.AccessPlan.vmap(guard) for guard in GUARDS]
    none, rcu, *strong = (
        r.rate_pps for r in run(*(scenario(kernel=kernel, plan=p) for p in plans))
    )
    assert none >= rcu >= max(strong)


def test_h_invalidations_cost_rate() -> None:
    base = scenario(plan=vl.AccessPlan.vmap("spinlock"), packets=100_000)
    still, hit = Runs()([base, base.replace(invalidations_per_s=1000)])
    assert hit.invalidations == math.floor(hit.elapsed_ps * 1000 / 1e12)
    assert hit.rate_pps < still.rate_pps


def test_verdict_flips_at_the_value_that_is_named() -> None:
    (answer,) = sensitivities(claim_e.QUESTIONS)
    (effect,) = [e for e in answer.effects if e.row.name == "separate_fixup"]
    flip = effect.flip_above
    assert flip is not None
    assert effect.flip_below is None
    question = answer.question

    def margin(at: float) -> float:
        return question.margin(question.measure(*Runs()(_with(at, s) for s in question.scenarios)))

    def _with(at: float, s: vl.Scenario) -> vl.Scenario:
        return s.replace(costs={**s.costs, "separate_fixup": at})

    assert margin(flip * 0.97) < 0 < margin(flip * 1.03)


def test_rows_without_effect_are_not_listed() -> None:
    (answer,) = sensitivities(claim_e.QUESTIONS)
    rows = {effect.row.name for effect in answer.effects}
    assert "separate_fixup" in rows
    assert rows.isdisjoint({"fsync.consumer", "rep_movs_startup.fsrm", "irqfd_inject_posted"})


def read(name: str) -> list[dict[str, str]]:
    with (RESULTS / name).open(newline="") as file:
        return list(csv.DictReader(file))


def test_claims_and_flips_agree() -> None:
    flips = read("flips.csv")
    for claim in read("claims.csv"):
        own = [row for row in flips if row["claim"] == claim["claim"]]
        if claim["verdict"] == "open":
            assert not own
            assert not claim["value"]
            continue
        value, low, high = (float(claim[name]) for name in ("value", "low", "high"))
        holds = float(claim["at_least"] or -math.inf) <= value
        holds = holds and value <= float(claim["at_most"] or math.inf)
        inside = any(row["inside"] == "yes" for row in own)
        assert claim["verdict"] == ("depends" if inside else "holds" if holds else "does not hold")
        assert low <= value <= high
        effects = [abs(float(r["value_at_high"]) - float(r["value_at_low"])) for r in own]
        assert all(b <= a * (1 + 1e-5) + 1e-4 for a, b in pairwise(effects))


def test_report_and_claims_agree() -> None:
    text = (RESULTS / "report.md").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if line.startswith("| ")]
    for claim in read("claims.csv"):
        (line,) = [at for at in lines if f"| {claim['statement']} |" in at]
        assert f"**{claim['verdict']}**" in line
        if claim["value"]:
            numbers = (float(claim[name]) for name in ("value", "low", "high"))
            value, low, high = (f"{number:.3g}" for number in numbers)
            assert f"{value} {claim['unit']} ({low} to {high})" in line


def test_invalidated_runs_saw_one() -> None:
    for row in read("h.csv"):
        assert (int(row["invalidations"]) > 0) == (int(row["invalidations_per_s"]) > 0)
        assert bool(row["invalidator_us_each"]) == (int(row["invalidations"]) > 0)


def test_every_question_has_a_row_and_every_claim_a_table() -> None:
    assert [row["claim"] for row in read("claims.csv")] == [q.id for q in QUESTIONS]
    for claim in CLAIMS:
        rows = read(f"{claim.QUESTIONS[0].claim}.csv")
        assert tuple(rows[0]) == claim.COLUMNS
