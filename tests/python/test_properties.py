"""What holds for every scenario: the ledger is exact, nothing is lost, nothing depends on how."""

import dataclasses
from typing import Any

import pytest
import vringlab as vl
from hypothesis import HealthCheck, example, given, reject, settings
from hypothesis import strategies as st

HOSTS = [host.name for host in vl.hosts()]
KERNELS = [kernel.name for kernel in vl.kernels()]
# Rows of times and fractions, whose ranges are given; others are not used yet.
ROWS = [row for row in vl.cost_rows() if row.unit in {"cycles", "ns", "us", "fraction"}]

plans = st.builds(
    vl.AccessPlan,
    mapped=st.sets(st.sampled_from(["desc", "avail", "used"])),
    guard=st.sampled_from(["none", "rcu", "counter", "spinlock", "atomic"]),
    user_access=st.sampled_from(["copy_user", "masked", "section", "shared_fixup"]),
    section_span=st.sampled_from(["one_area", "several_areas"]),
    used_element=st.sampled_from(["two_words", "block"]),
)


@st.composite
def costs(draw: st.DrawFn) -> dict[str, float]:
    rows = draw(st.lists(st.sampled_from(ROWS), max_size=4))
    values = {row.name: draw(st.floats(row.low, row.high)) for row in rows}
    clock = draw(st.none() | st.floats(0.5, 5))
    return values if clock is None else values | {"clock_ghz": clock}


@st.composite
def scenarios(draw: st.DrawFn) -> vl.Scenario:
    fields: dict[str, st.SearchStrategy[Any]] = {
        "host": st.sampled_from(HOSTS),
        "kernel": st.sampled_from(KERNELS),
        "costs": costs(),
        "distance": st.sampled_from(["same_ccx", "same_socket", "remote"]),
        "ring_remote": st.booleans(),
        "guest_page_bytes": st.sampled_from([4096, 2097152]),
        "guest": st.sampled_from(["virtio-user", "vm"]),
        "guest_notify": st.sampled_from(["poll", "interrupt"]),
        "packets": st.integers(200, 3000),
        "packet_bytes": st.integers(14, 2048),
        "guest_burst": st.integers(1, 64) | st.sampled_from([256, 1024]),
        "split_header": st.booleans(),
        "offered_pps": st.just(0.0) | st.floats(1e3, 2e7),
        "arrival": st.sampled_from(["periodic", "poisson"]),
        "ring_size": st.sampled_from([2**n for n in range(1, 12)]),
        "ring_offset": st.integers(0, 255).map(lambda n: 16 * n),
        "event_idx": st.booleans(),
        "indirect": st.booleans(),
        "plan": plans,
        "batch": st.integers(1, 256) | st.just(1024),
        "copy_batch": st.integers(1, 64),
        "weight_packets": st.integers(1, 512),
        "weight_bytes": st.integers(1, 1 << 20),
        "busy_poll_us": st.just(0.0) | st.floats(0, 100),
        "inline_packets": st.just(0) | st.integers(1, 64),
        "invalidations_per_s": st.just(0.0) | st.floats(1, 1e5),
        "seed": st.integers(0, 2**64 - 1),
    }
    drawn = draw(st.fixed_dictionaries({}, optional=fields))
    return vl.Scenario(**{"packets": 1000} | drawn)


def figures(result: vl.Result) -> dict[str, Any]:
    """All fields but the scenario."""
    return {f.name: getattr(result, f.name) for f in dataclasses.fields(result)[1:]}


@settings(max_examples=500, deadline=None)
@given(scenarios())
@example(vl.Scenario(packets=40000, ring_size=32768, guest_burst=32768, batch=1024))
def test_every_picosecond_has_a_name_and_every_packet_arrives(scenario: vl.Scenario) -> None:
    result = vl.run(scenario)
    for core in result.cores:
        assert sum(row.ps for row in core.ledger) == core.busy_ps
        assert len({(row.cost, row.step) for row in core.ledger}) == len(core.ledger)
    clocks = [core.busy_ps + core.idle_ps for core in result.cores if core.name != "control"]
    assert max(clocks) == result.elapsed_ps
    assert (result.packets, result.refused, result.dropped) == (scenario.packets, 0, 0)
    assert result.bytes == scenario.packets * scenario.packet_bytes
    assert result.rate_pps == pytest.approx(scenario.packets * 1e12 / result.elapsed_ps)


@settings(max_examples=100, deadline=None)
@given(scenarios())
def test_equal_scenarios_give_equal_results(scenario: vl.Scenario) -> None:
    assert vl.run(scenario) == vl.run(scenario)


@settings(max_examples=100, deadline=None)
@given(scenarios())
def test_skipping_polls_changes_nothing(scenario: vl.Scenario) -> None:
    stepped = vl.run(scenario.replace(skip_polls=False))
    assert figures(vl.run(scenario)) == figures(stepped)


@settings(max_examples=100, deadline=None)
@given(scenarios(), scenarios(), st.sampled_from(["guest", "worker", "control"]))
def test_a_comparison_adds_up_exactly(a: vl.Scenario, b: vl.Scenario, core: str) -> None:
    comparison = vl.compare(*vl.run_many([a, b]), core=core)
    assert comparison.residual_ps == 0
    assert sum(row.delta_ps for row in comparison.rows) == comparison.delta_ps


@settings(max_examples=20, deadline=None)
@given(st.lists(scenarios(), max_size=8), st.integers(1, 4))
def test_workers_change_nothing(many: list[vl.Scenario], workers: int) -> None:
    assert vl.run_many(many, workers=workers) == [vl.run(scenario) for scenario in many]


@settings(max_examples=100, deadline=None)
@given(scenarios(), st.integers(1, 2**64 - 1))
def test_nothing_is_lost_in_whichever_order_ties_go(scenario: vl.Scenario, tie_seed: int) -> None:
    result = vl.run(scenario.replace(tie_seed=tie_seed))
    assert (result.packets, result.refused, result.dropped) == (scenario.packets, 0, 0)
    assert all(sum(row.ps for row in core.ledger) == core.busy_ps for core in result.cores)


@pytest.mark.parametrize("plan", [vl.AccessPlan.user(), vl.AccessPlan.vmap()])
@pytest.mark.parametrize("batch", [1, 64])
@pytest.mark.parametrize("notify", ["poll", "interrupt"])
def test_the_order_of_ties_changes_nothing_where_rates_are_compared(
    plan: vl.AccessPlan, batch: int, notify: str
) -> None:
    scenario = vl.Scenario(packets=5000, plan=plan, batch=batch, guest_notify=notify)
    permuted = vl.run_many(scenario.replace(tie_seed=seed) for seed in range(6))
    assert all(figures(result) == figures(permuted[0]) for result in permuted)


@st.composite
def workloads(draw: st.DrawFn) -> vl.Scenario:
    """Scenarios of every kind; a combination that is refused is left out."""
    workload = draw(st.sampled_from(["tx", "rx", "io", "macswap", "stream", "rr"]))
    sinks = [sink.name for sink in vl.sinks()]
    fields: dict[str, st.SearchStrategy[Any]] = {
        "sink": st.just("host_tcp") if workload in ("stream", "rr") else st.sampled_from(sinks),
        "guest": st.sampled_from(["virtio-user", "vm", "vm-pktgen"]),
        "guest_notify": st.sampled_from(["poll", "interrupt"]),
        "packet_bytes": st.integers(42, 4000) | st.sampled_from([9000, 65549]),
        "mergeable": st.booleans(),
        "rx_buffer_bytes": st.integers(64, 9000),
        "tap_entries": st.sampled_from([1, 2, 500]),
        "ring_size": st.sampled_from([2, 4, 64, 256, 1024]),
        "event_idx": st.booleans(),
        "indirect": st.booleans(),
        "plan": plans,
        "tx_batching": st.booleans(),
        "batch": st.integers(1, 128),
        "weight_packets": st.integers(1, 256),
        "zerocopy": st.booleans(),
        "nic_pps": st.just(0.0) | st.floats(1e5, 1e7),
        "offered_pps": st.just(0.0) | st.floats(1e4, 1e7),
        "queue_pairs": st.integers(1, 5),
        "workers": st.integers(1, 5),
        "worker_cores": st.integers(0, 2),
        "message_bytes": st.integers(1, 100_000),
        "sessions": st.integers(1, 8),
        "vcpus": st.integers(1, 6),
        "send_buffer_bytes": st.sampled_from([4096, 65536, 4194304]),
        "stream_ms": st.floats(0.01, 1),
    }
    drawn = draw(st.fixed_dictionaries({}, optional=fields))
    try:
        return vl.Scenario(**{"workload": workload, "packets": 300} | drawn)
    except ValueError:
        reject()


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.filter_too_much])
@given(workloads())
def test_the_ledger_is_exact_for_every_workload(scenario: vl.Scenario) -> None:
    result = vl.run(scenario)
    for core in result.cores:
        assert sum(row.ps for row in core.ledger) == core.busy_ps, core.name
    if scenario.workload == "tx" and scenario.queue_pairs == 1:
        assert result.packets + result.dropped == scenario.packets
