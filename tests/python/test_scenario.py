"""Scenario and AccessPlan: the fields of the simulator's own, and nothing bad is ever made."""

import copy
import dataclasses
import math
import pickle
from typing import Any

import numpy as np
import pytest
import vringlab as vl
from vringlab import _native
from vringlab.scenario import native_scenario

FIELDS = {field.name: field for field in dataclasses.fields(vl.Scenario)}
OF_TYPE = {
    kind: [name for name, field in FIELDS.items() if field.type is kind]
    for kind in (int, float, bool, str)
}


def native_fields(kind: type) -> list[str]:
    return [n for n, v in vars(kind).items() if isinstance(v, property)]


# --- no drift from the simulator ------------------------------------------------------------------


def test_fields_are_those_of_the_simulator_in_its_order() -> None:
    assert list(FIELDS) == native_fields(_native.Scenario)


def test_every_field_has_a_kind_that_is_tested() -> None:
    assert {*FIELDS} - {n for names in OF_TYPE.values() for n in names} == {"costs", "plan", "blk"}


def test_defaults_are_those_of_the_simulator() -> None:
    native, ours = _native.Scenario(), native_scenario(vl.Scenario())
    names = [name for name in FIELDS if name not in ("plan", "blk")]
    assert {n: getattr(ours, n) for n in names} == {n: getattr(native, n) for n in names}
    for name in native_fields(_native.AccessPlan):
        assert getattr(ours.plan, name) == getattr(native.plan, name)
    assert vl.Scenario().plan == vl.AccessPlan() == vl.AccessPlan.user()


def test_defaults_have_the_declared_type() -> None:
    for kind, names in OF_TYPE.items():
        for name in names:
            assert type(getattr(vl.Scenario(), name)) is kind


@pytest.mark.parametrize(
    ("field", "enum"),
    [
        ("guard", _native.Guard),
        ("user_access", _native.UserAccess),
        ("section_span", _native.SectionSpan),
        ("used_element", _native.UsedElement),
        ("translation", _native.Translation),
    ],
)
def test_each_value_of_a_plan_reaches_the_simulator(field: str, enum: Any) -> None:
    for value in enum.__members__:
        plan = vl.AccessPlan(**{field: value})
        if field != "translation":  # only user_address is simulated so far
            assert getattr(native_scenario(vl.Scenario(plan=plan)).plan, field) == enum[value]


@pytest.mark.parametrize("area", ["desc", "avail", "used"])
def test_a_mapped_area_reaches_the_simulator(area: str) -> None:
    plan = native_scenario(vl.Scenario(plan=vl.AccessPlan(mapped={area}))).plan
    assert [name for name in native_fields(_native.AccessPlan)[:3] if getattr(plan, name)] == [
        f"map_{area}"
    ]


def test_a_field_reaches_the_simulator() -> None:
    changes: dict[str, Any] = {
        "packets": 7,
        "host": "zen2-3.3",
        "event_idx": True,
        "seed": 2**64 - 1,
    }
    native = native_scenario(vl.Scenario(**changes, costs={"smp_mb": 1}))
    assert {name: getattr(native, name) for name in changes} == changes
    assert native.costs == {"smp_mb": 1.0}


# --- values ---------------------------------------------------------------------------------------

SAMPLE = vl.Scenario(
    packets=9, plan=vl.AccessPlan.vmap("atomic"), costs={"smp_mb": 1, "load.l2": 2}
)


@pytest.mark.parametrize("value", [vl.Scenario(), SAMPLE, SAMPLE.plan, SAMPLE.costs])
def test_equal_after_a_pickle_and_a_copy(value: Any) -> None:
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        again = pickle.loads(pickle.dumps(value, protocol))
        assert (again, hash(again), repr(again)) == (value, hash(value), repr(value))
    assert copy.deepcopy(value) == copy.copy(value) == value


def test_equality_and_hash() -> None:
    same = vl.Scenario(
        packets=9, plan=vl.AccessPlan.vmap("atomic"), costs={"load.l2": 2, "smp_mb": 1}
    )
    assert (same, hash(same)) == (SAMPLE, hash(SAMPLE))
    assert SAMPLE.replace(seed=1) != SAMPLE
    assert SAMPLE.replace(plan=vl.AccessPlan.vmap()) != SAMPLE
    assert len({SAMPLE, same, vl.Scenario()}) == 2


@pytest.mark.parametrize("value", [vl.Scenario(), vl.AccessPlan()])
def test_frozen(value: Any) -> None:
    for field in dataclasses.fields(value):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(value, field.name, None)
    with pytest.raises((AttributeError, TypeError)):
        value.new = 1


def test_costs_are_frozen_and_sorted() -> None:
    values = {"smp_mb": 1.0}
    scenario = vl.Scenario(costs=values)
    values["smp_mb"] = 2.0
    assert scenario.costs == {"smp_mb": 1.0}
    assert list(SAMPLE.costs) == ["load.l2", "smp_mb"]
    with pytest.raises(TypeError):
        scenario.costs["smp_mb"] = 2.0  # type: ignore[index]


def test_repr_is_code_that_makes_it_again() -> None:
    names = {"Scenario": vl.Scenario, "AccessPlan": vl.AccessPlan}
    plans = [
        vl.AccessPlan(),
        vl.AccessPlan.vmap("none"),
        vl.AccessPlan(mapped={"used", "desc"}, guard="counter", user_access="section"),
        vl.AccessPlan(section_span="several_areas"),
    ]
    for scenario in [vl.Scenario(), SAMPLE, *(vl.Scenario(plan=plan) for plan in plans)]:
        assert eval(repr(scenario), names) == scenario
    assert repr(vl.Scenario()) == "Scenario()"
    assert repr(plans[2]).startswith('AccessPlan(mapped={"desc", "used"}, guard="counter", ')


def test_replace() -> None:
    assert SAMPLE.replace(packets=10).packets == 10
    assert SAMPLE.replace() == SAMPLE
    with pytest.raises(ValueError, match="batch = 0"):
        SAMPLE.replace(batch=0)
    with pytest.raises(TypeError, match="pakets"):
        SAMPLE.replace(pakets=1)


def test_summary_has_a_line_for_each_field() -> None:
    lines = SAMPLE.summary().splitlines()
    assert [line.split()[1] if line[0] == "*" else line.split()[0] for line in lines] == list(
        FIELDS
    )
    assert {line.split()[1] for line in lines if line[0] == "*"} == {"costs", "packets", "plan"}


def test_to_dict_gives_all_fields() -> None:
    fields = SAMPLE.to_dict()
    assert list(fields) == list(FIELDS)
    nested = {"plan": vl.AccessPlan(**fields["plan"]), "blk": vl.Blk(**fields["blk"])}
    assert vl.Scenario(**fields | nested) == SAMPLE


def test_numbers_of_numpy_are_taken() -> None:
    scenario = vl.Scenario(
        packets=np.int64(9),  # type: ignore[arg-type]
        batch=np.uint8(3),  # type: ignore[arg-type]
        busy_poll_us=np.float32(0.5),  # type: ignore[arg-type]
        offered_pps=1000,
        event_idx=np.bool_(True),  # type: ignore[arg-type]
        costs={"smp_mb": np.float64(2)},
    )
    expected = vl.Scenario(
        packets=9, batch=3, busy_poll_us=0.5, offered_pps=1e3, event_idx=True, costs={"smp_mb": 2.0}
    )
    assert (scenario, repr(scenario)) == (expected, repr(expected))
    assert {type(scenario.packets), type(scenario.batch)} == {int}
    assert type(scenario.event_idx) is bool


def test_any_iterable_of_areas_is_taken() -> None:
    plan = vl.AccessPlan(mapped={"desc", "used"})
    for mapped in (["desc", "used"], ("used", "desc", "desc"), iter(["desc", "used"])):
        assert vl.AccessPlan(mapped=mapped) == plan  # type: ignore[arg-type]
    assert plan.mapped == {"desc", "used"}


# --- wrong types: TypeError that names the field --------------------------------------------------

WRONG: dict[Any, list[Any]] = {
    int: [True, 1.0, "1", None, [1], 1j, math.nan, np.float64(1), np.bool_(True), np.array([1, 2])],
    float: [True, "1", None, [1.0], 1j, np.bool_(True), np.array([1.0, 2.0])],
    bool: [1, 0, "True", None, 1.0],
    str: [1, None, b"poll", ["poll"], True],
}


@pytest.mark.parametrize(
    ("field", "value"),
    [(name, value) for kind, names in OF_TYPE.items() for name in names for value in WRONG[kind]],
)
def test_wrong_type(field: str, value: Any) -> None:
    with pytest.raises(TypeError, match=f"^{field} must be an? "):
        vl.Scenario(**{field: value})


@pytest.mark.parametrize("value", [None, "vmap", {"mapped": ()}, _native.AccessPlan(), 1])
def test_wrong_type_of_plan(value: Any) -> None:
    with pytest.raises(TypeError, match=r"^plan must be an AccessPlan, not "):
        vl.Scenario(plan=value)


@pytest.mark.parametrize("value", ["smp_mb", [("smp_mb", 1)], 0, {1: 1}, {"smp_mb": "1"}])
def test_wrong_type_of_costs(value: Any) -> None:
    with pytest.raises(TypeError, match=r"^costs"):
        vl.Scenario(costs=value)


@pytest.mark.parametrize("value", [None, "desc", 1, [1], [None], b"desc"])
def test_wrong_type_of_mapped(value: Any) -> None:
    with pytest.raises(TypeError, match=r"^mapped must be "):
        vl.AccessPlan(mapped=value)


@pytest.mark.parametrize("field", [f.name for f in dataclasses.fields(vl.AccessPlan)[1:]])
def test_wrong_value_of_a_plan(field: str) -> None:
    with pytest.raises(TypeError, match=f"^{field} must be a str"):
        vl.AccessPlan(**{field: None})
    for value in ("", "RCU", "kRcu", "luck", "__class__", "\ud800", "rcu\0"):
        with pytest.raises(ValueError, match=f"^{field} = .*: must be "):
            vl.AccessPlan(**{field: value})


def test_fields_go_by_name_only() -> None:
    with pytest.raises(TypeError):
        vl.Scenario("broadwell-2.6")  # type: ignore[misc]
    with pytest.raises(TypeError):
        vl.AccessPlan({"desc"})  # type: ignore[misc]
    with pytest.raises(TypeError, match="nonsense"):
        vl.Scenario(nonsense=1)  # type: ignore[call-arg]


# --- bad values: ValueError with field, value and what is permitted -------------------------------

UNREPRESENTABLE = [-1, -(2**63), 2**64, 2**70, -(10**400)]


@pytest.mark.parametrize("field", OF_TYPE[int])
@pytest.mark.parametrize("value", UNREPRESENTABLE)
def test_integers_that_no_field_holds(field: str, value: int) -> None:
    with pytest.raises(
        ValueError, match=f"^{field} = -?([0-9]+|an integer of [0-9]+ bits): must be"
    ):
        vl.Scenario(**{field: value})


def test_integers_too_large_to_print() -> None:
    with pytest.raises(
        ValueError, match=r"^packets = an integer of 33220 bits: must be between 1 "
    ):
        vl.Scenario(packets=10**10000)


@pytest.mark.parametrize("field", OF_TYPE[float])
@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, -1.0, -1e-300, 1e300, 10**400])
def test_numbers_out_of_range(field: str, value: float) -> None:
    with pytest.raises(ValueError, match=f"^{field} = -?[a-z0-9.e+-]+: must be between "):
        vl.Scenario(**{field: value})


@pytest.mark.parametrize("field", OF_TYPE[str])
@pytest.mark.parametrize("value", ["", "nonsense", "POLL", " poll", "%s%n", "\U0001f600"])
def test_names_that_do_not_exist(field: str, value: str) -> None:
    with pytest.raises(ValueError, match=f'^{field} = "[^"]*": must be one of '):
        vl.Scenario(**{field: value})


@pytest.mark.parametrize("field", OF_TYPE[str])
def test_text_that_is_no_text(field: str) -> None:
    for value in ("\ud800", "poll\0"):
        with pytest.raises(ValueError, match=f"^{field} = '.*': must be text"):
            vl.Scenario(**{field: value})


# (field, the last values that fail, the first that pass)
BOUNDS: list[tuple[str, list[Any], list[Any]]] = [
    ("packets", [0, 10**12 + 1], [1, 10**12]),
    ("packet_bytes", [0, 13, 65550], [14, 65549]),
    ("guest_burst", [0, 32769, 2**31], [1, 32768]),
    ("guest_page_bytes", [0, 4095, 8192, 2**63], [4096, 2097152]),
    ("ring_size", [0, 1, 3, 255, 65535, 65536, 2**32 - 1], [2, 4, 32768]),
    ("ring_offset", [1, 8, 4095, 4096], [0, 16, 4080]),
    ("batch", [0, 1025], [1, 1024]),
    ("copy_batch", [0, 65], [1, 64]),
    ("weight_packets", [0, 2**20 + 1], [1, 2**20]),
    ("weight_bytes", [0, 2**30 + 1], [1, 2**30]),
    ("inline_packets", [1025], [0, 1024]),
    ("offered_pps", [-0.001, 0.0009, 1e9 + 1], [0.0, 1e9]),
    ("busy_poll_us", [-0.001, 1e6 + 1], [0.0, 1e6]),
    ("rx_buffer_bytes", [0, 63, 2**20 + 1], [64, 2**20]),
    ("fragment_bytes", [0, 4095, 4097, 2**20 + 4096], [4096, 2**20]),
    ("min_buffer_bytes", [0, 41, 4085], [42, 4084]),
    ("napi_defer_us", [-1.0, 1e7, 1.0], [0.0]),
    ("xsk_ring", [0, 32, 63, 65, 2**16], [64, 2**15]),
    ("receive_buffer_bytes", [0, 255, 2**28 + 1], [256, 2**28]),
    ("iotlb_entries", [0, 65537], [1, 65536]),
    ("swiotlb_slots", [0, 127, 32769], [128, 32768]),
    ("tap_entries", [0, 65537], [1, 65536]),
    ("zerocopy_min_bytes", [0, 13, 65550], [14, 65549]),
    ("queue_pairs", [0, 6], [1, 5]),
    ("workers", [0, 6], [1, 5]),
    ("worker_cores", [1, 6], [0]),
    ("message_bytes", [0, 2**20 + 1], [1, 2**20]),
    ("sessions", [0, 9], [1, 8]),
    ("vcpus", [0, 7], [1, 6]),
    ("send_buffer_bytes", [0, 4095, 2**30 + 1], [4096, 2**30]),
    ("stream_ms", [0.0, -1.0, 1e6 + 1, float("nan")], [0.001, 1e6]),
    ("nic_pps", [-1.0, 1e-4, 1.1e9, float("nan")], [0.0, 0.001, 1e9]),
    ("invalidations_per_s", [-0.001, 1e6 + 1], [0.0, 1e6]),
    ("resizes_per_s", [-0.001, 1e6 + 1, 1.0, float("nan")], [0.0]),
    ("seed", [2**64], [0, 2**64 - 1]),
    ("tie_seed", [2**64], [0, 2**64 - 1]),
]


def test_the_bounds_of_every_number_are_tested() -> None:
    assert {row[0] for row in BOUNDS} == {*OF_TYPE[int], *OF_TYPE[float]}


@pytest.mark.parametrize(("field", "refused", "taken"), BOUNDS)
def test_bounds(field: str, refused: list[Any], taken: list[Any]) -> None:
    for value in refused:
        with pytest.raises(ValueError, match=f"^{field} = [^:]+: must be "):
            vl.Scenario(**{field: value})
    for value in taken:
        assert getattr(vl.Scenario(**{field: value}), field) == value


@pytest.mark.parametrize("workload", ["tx", "rx", "io", "macswap", "stream", "rr"])
def test_cores_are_at_most_workers(workload: str) -> None:
    sink = "host_tcp" if workload in ("stream", "rr") else "xdp_drop"
    shared = vl.Scenario(workload=workload, sink=sink, queue_pairs=2, workers=2, worker_cores=2)
    with pytest.raises(ValueError, match=r"^worker_cores = 3: must be at most workers"):
        shared.replace(worker_cores=3)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, -1, 10**400])
@pytest.mark.parametrize("row", [*(row.name for row in vl.cost_rows()), "clock_ghz"])
def test_bad_costs(row: str, value: float) -> None:
    with pytest.raises(ValueError, match=rf'^costs\["{row}"\] = .*must be '):
        vl.Scenario(costs={row: value})


@pytest.mark.parametrize("row", ["smp_mb", "copy_per_byte.l1", "wakeup.cpu_awake", "ooo_overlap"])
def test_costs_that_overflow(row: str) -> None:
    with pytest.raises(ValueError, match=rf'^costs\["{row}"\] = '):
        vl.Scenario(costs={row: 1e300})


@pytest.mark.parametrize("name", ["", "nonsense", "smp_mb ", "SMP_MB", "clock_ghz@host"])
def test_unknown_cost_rows(name: str) -> None:
    with pytest.raises(ValueError, match=r'^costs\[".*"\] = 1\.?0*: there is no such cost row'):
        vl.Scenario(costs={name: 1})


def test_a_translation_that_is_not_simulated_is_refused() -> None:
    for translation in ("iotlb", "iotlb_metadata_cache"):
        with pytest.raises(ValueError, match=r"^plan.translation = "):
            vl.Scenario(plan=vl.AccessPlan(translation=translation))
