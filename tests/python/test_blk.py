"""Blk and BlkResult: the fields of the simulator's own, nothing bad is ever made, and what a run of
the workload "blk" says."""

import copy
import dataclasses
import math
import pickle
from typing import Any

import numpy as np
import pytest
import vringlab as vl
from vringlab import _native

FIELDS = {field.name: field for field in dataclasses.fields(vl.Blk)}


def native_fields(kind: type) -> list[str]:
    return [n for n, v in vars(kind).items() if isinstance(v, property)]


def scenario(packets: int = 300, **blk: Any) -> vl.Scenario:
    others = {n: blk.pop(n) for n in [*blk] if n not in FIELDS}
    return vl.Scenario(**({"workload": "blk"} | others), packets=packets, blk=vl.Blk(**blk))


# --- no drift from the simulator ------------------------------------------------------------------


def test_fields_and_defaults_are_those_of_the_simulator() -> None:
    assert list(FIELDS) == native_fields(_native.BlkScenario)
    native = _native.BlkScenario()
    assert vl.Blk().to_dict() == {name: getattr(native, name) for name in FIELDS}
    for name, field in FIELDS.items():
        assert type(getattr(vl.Blk(), name)) is field.type


def test_results_are_those_of_the_simulator() -> None:
    ours = [field.name for field in dataclasses.fields(vl.BlkResult)]
    assert ours == native_fields(_native.BlkResult)


def test_disks_are_named() -> None:
    assert [disk.name for disk in vl.disks()] == ["array-2010", "sata-ssd", "nvme", "ram"]
    for disk in vl.disks():
        assert vl.run(scenario(disk=disk.name)).packets == 300


def test_it_can_be_compared_hashed_copied_and_pickled() -> None:
    blk = vl.Blk(form="vmm", queue_depth=4)
    for other in (copy.deepcopy(blk), pickle.loads(pickle.dumps(blk)), vl.Blk(**blk.to_dict())):
        assert other == blk
        assert hash(other) == hash(blk)
    assert repr(blk) == "Blk(form='vmm', queue_depth=4)"


def test_a_numpy_value_becomes_a_plain_one() -> None:
    blk = vl.Blk(queue_depth=np.int64(4), read_share=np.float32(0.25))
    assert type(blk.queue_depth) is int
    assert type(blk.read_share) is float


# --- nothing bad is ever made ---------------------------------------------------------------------


@pytest.mark.parametrize("name", FIELDS)
def test_a_wrong_type_names_the_field(name: str) -> None:
    for value in (None, [1], {}, b"x", 1j):
        with pytest.raises(TypeError, match=f"blk.{name} must be"):
            vl.Blk(**{name: value})


def test_the_blk_of_a_scenario_must_be_one() -> None:
    with pytest.raises(TypeError, match="blk must be a Blk"):
        vl.Scenario(blk={"disk": "ram"})  # type: ignore[arg-type]


BOUNDS: list[tuple[dict[str, Any], dict[str, Any], str]] = [
    ({"form": "host"}, {"form": "guest"}, "blk.form"),
    ({"disk": "ram"}, {"disk": "floppy"}, "disk"),
    ({"engine": "aio"}, {"engine": "uring"}, "blk.engine"),
    ({"kick": "exit"}, {"kick": "poll"}, "blk.kick"),
    ({"interrupt": "ioctl"}, {"interrupt": "msi"}, "blk.interrupt"),
    ({"pool_threads": 1}, {"pool_threads": 0}, "blk.pool_threads"),
    ({"pool_threads": 256}, {"pool_threads": 257}, "blk.pool_threads"),
    ({"sector_shift": 8}, {"sector_shift": 7}, "blk.sector_shift"),
    ({"sector_shift": 9}, {"sector_shift": 10}, "blk.sector_shift"),
    ({"operation": "mixed"}, {"operation": "trim"}, "blk.operation"),
    ({"pattern": "sequential"}, {"pattern": "zipf"}, "blk.pattern"),
    ({"read_share": 0.0}, {"read_share": -0.01}, "blk.read_share"),
    ({"read_share": 1.0}, {"read_share": 1.01}, "blk.read_share"),
    ({}, {"read_share": math.nan}, "blk.read_share"),
    ({"block_bytes": 512}, {"block_bytes": 256}, "blk.block_bytes"),
    ({"block_bytes": 1024}, {"block_bytes": 1000}, "blk.block_bytes"),
    ({"jobs": 64}, {"jobs": 65}, "blk.jobs"),
    ({"jobs": 1}, {"jobs": 0}, "blk.jobs"),
    ({"queue_depth": 1}, {"queue_depth": 0}, "blk.queue_depth"),
    ({"queue_depth": 4096}, {"queue_depth": 4097}, "blk.queue_depth"),
    ({"disk_bytes": 8192}, {"disk_bytes": 2048}, "blk.disk_bytes"),
    ({"disk_bytes": 4608}, {"disk_bytes": 4609}, "blk.disk_bytes"),
    ({"data": True}, {"data": True, "disk_bytes": 2**33}, "blk.disk_bytes"),
    ({"segment_bytes": 512}, {"segment_bytes": 100}, "blk.segment_bytes"),
    ({"max_segments": 254}, {"max_segments": 255}, "blk.max_segments"),
    ({"request_bytes": 4096}, {"request_bytes": 0}, "blk.request_bytes"),
    ({"queues": 4}, {"queues": 5}, "blk.queues"),
    ({"queues": 2, "workers": 2}, {"queues": 2, "workers": 3}, "workers"),
    ({"form": "vmm", "cache": "writeback"}, {"cache": "writeback"}, "blk.cache"),
    ({}, {"form": "vhost-2010", "cache": "none"}, "blk.cache"),
    ({}, {"form": "vmm", "cache": "writeback", "engine": "aio"}, "blk.cache"),
    ({}, {"form": "vmm", "cache": "writeback", "disk": "ram"}, "blk.cache"),
    ({}, {"form": "host", "sector_shift": 8}, "blk.sector_shift"),
    ({}, {"form": "vmm", "cache": "writeback", "cache_bytes": 4096}, "blk.cache_bytes"),
    ({}, {"dirty_share": 0.95}, "blk.dirty_share"),
    ({}, {"background_share": 0.3}, "blk.background_share"),
    ({}, {"form": "vmm", "cache": "writeback", "block_bytes": 512}, "blk.block_bytes"),
    ({}, {"packets": 1, "operation": "write-read"}, "packets"),
    ({}, {"flush_every": -1}, "blk.flush_every"),
    ({}, {"disk_bytes": 2**64}, "blk.disk_bytes"),
    ({}, {"busy_poll_us": 1.0}, "busy_poll_us"),
    ({}, {"queue_pairs": 2}, "queue_pairs"),
    (
        {"block_bytes": 2**25, "request_bytes": 512, "queue_depth": 1, "indirect": True},
        {"block_bytes": 2**26, "request_bytes": 512, "queue_depth": 1, "indirect": True},
        "blk.request_bytes",
    ),
    ({}, {"ring_size": 32768, "queue_depth": 4096, "indirect": True}, "ring_size"),
    (
        {"ring_size": 32768, "queue_depth": 1, "indirect": True},
        {"packets": 63, "operation": "write-read"},
        "packets",
    ),
    (
        {"form": "vmm", "cache": "writeback", "sector_shift": 8, "block_bytes": 8192},
        {
            "form": "vmm",
            "cache": "writeback",
            "sector_shift": 8,
            "block_bytes": 8192,
            "request_bytes": 4096,
        },
        "blk.request_bytes",
    ),
    ({}, {"workload": "tx", "disk": "ram"}, "blk"),
    ({}, {"offered_pps": 1e5}, "offered_pps"),
]


@pytest.mark.parametrize(("good", "bad", "field"), BOUNDS)
def test_bounds(good: dict[str, Any], bad: dict[str, Any], field: str) -> None:
    scenario(**good)
    with pytest.raises(ValueError, match=rf"^{field} = .*: must be "):
        scenario(**bad)


# --- what a run says ------------------------------------------------------------------------------

FORMS: dict[str, dict[str, Any]] = {
    "host": {"form": "host"},
    "bio": {},
    "bio, two queues": {"queues": 2, "workers": 2, "jobs": 4},
    "2010": {"form": "vhost-2010", "cache": "writethrough"},
    "2010, writeback": {"form": "vhost-2010", "cache": "writeback"},
    "threads": {"form": "vmm"},
    "threads, writeback": {"form": "vmm", "cache": "writeback"},
    "exit": {"form": "vmm", "kick": "exit", "interrupt": "ioctl"},
    "aio": {"form": "vmm", "engine": "aio"},
    "io_uring": {"form": "vmm", "engine": "io_uring"},
}
OPERATIONS = ("read", "write", "mixed", "write-read")


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("form", FORMS)
def test_every_form_serves_every_job_and_accounts_for_its_time(form: str, operation: str) -> None:
    asked = scenario(operation=operation, flush_every=7, disk_bytes=2**24, data=True, **FORMS[form])
    result = vl.run(asked)
    assert result.packets == 300
    assert result.bytes == 300 * 4096
    assert result.blk.failed == result.refused == result.blk.wrong_bytes == 0
    assert result == vl.run(asked)
    for core in result.cores:
        assert sum(row.ps for row in core.ledger) == core.busy_ps


@pytest.mark.parametrize("form", [name for name in FORMS if name != "host"])
def test_data_is_that_of_the_host_form(form: str) -> None:
    jobs = {"operation": "write", "disk_bytes": 2**22, "data": True, "queue_depth": 1}
    bare = vl.run(scenario(**jobs, jobs=FORMS[form].get("jobs", 1), form="host"))
    assert vl.run(scenario(**(jobs | FORMS[form]))).blk.data_hash == bare.blk.data_hash != 0


def test_the_fault_of_2010_overwrites_half_of_each_block() -> None:
    jobs = {"operation": "write-read", "pattern": "sequential", "block_bytes": 131072}
    served = {"form": "vhost-2010", "cache": "writethrough", "queue_depth": 1, "data": True}
    disk = {"disk_bytes": 40 * 131072}
    right = vl.run(scenario(packets=80, **jobs, **served, **disk))
    wrong = vl.run(scenario(packets=80, **jobs, **served, **disk, sector_shift=8))
    assert right.blk.wrong_bytes == 0
    assert wrong.blk.wrong_bytes == 39 * 131072 // 2  # nobody writes over the last block
    assert wrong.blk.failed == 0


def test_the_fault_reads_every_page_twice_and_the_disk_once() -> None:
    jobs = {"pattern": "sequential", "block_bytes": 131072, "disk_bytes": 2**27, "queue_depth": 1}
    served = {"form": "vhost-2010", "cache": "writethrough"}
    right = vl.run(scenario(packets=1000, **jobs, **served))
    wrong = vl.run(scenario(packets=1000, **jobs, **served, sector_shift=8))
    assert right.blk.disk_read_bytes / right.bytes == pytest.approx(1, abs=0.01)
    assert wrong.blk.disk_read_bytes / wrong.bytes == pytest.approx(0.5, abs=0.01)


def test_adjacent_writes_of_a_vmm_are_merged() -> None:
    jobs = {"operation": "write", "pattern": "sequential", "block_bytes": 2**21}
    jobs |= {"queue_depth": 1, "indirect": True}
    merged = vl.run(scenario(packets=20, form="vmm", **jobs))
    apart = vl.run(scenario(packets=20, form="vmm", merge_writes=False, **jobs))
    assert merged.blk.requests == apart.blk.requests == 80
    assert merged.blk.merged > 40
    assert apart.blk.merged == 0


def test_a_synchronous_worker_serves_one_request_at_a_time() -> None:
    deep = {"cache": "writethrough", "queue_depth": 16, "disk_bytes": 2**30, "disk": "sata-ssd"}
    one = vl.run(scenario(form="vhost-2010", **deep))
    pool = vl.run(scenario(form="vmm", **deep))
    assert pool.rate_pps > 3 * one.rate_pps


def test_workers_scale_on_a_ram_disk() -> None:
    four = {"queues": 4, "jobs": 4, "disk": "ram", "vcpus": 4, "block_bytes": 65536}
    one, two, _, many = (
        vl.run(scenario(packets=2000, workers=n, **four)).rate_pps for n in (1, 2, 3, 4)
    )
    assert 1.9 * one < two < many


def test_guest_system_time_is_what_its_application_does_not_take() -> None:
    result = vl.run(scenario())
    app = sum(row.ps for row in result.core("guest").ledger if row.step == "guest_app")
    assert result.blk.guest_system_ps == result.core("guest").busy_ps - app > 0
    assert app > 0


def test_a_seed_chooses_places() -> None:
    write = {"operation": "write", "disk_bytes": 2**24, "data": True}
    hashes = {vl.run(scenario(**write, seed=seed)).blk.data_hash for seed in (1, 2, 3)}
    assert len(hashes) == 3


def test_the_summary_is_of_ios() -> None:
    text = vl.run(scenario(form="vmm")).summary()
    assert "IOPS" in text
    assert "300 I/Os in 300 requests, 0 failed" in text
    assert "pool: " in text
    assert "packets" not in text.replace("packets=", "").replace("per packet", "")


def test_each_queue_has_a_mapping_of_its_own() -> None:
    mapped = {"plan": vl.AccessPlan.vmap(), "form": "vhost-bio"}
    one, two = (vl.run(scenario(queues=n, **mapped)).pinned_bytes for n in (1, 2))
    assert two == 2 * one > 0


def test_pages_are_missed_once_by_whom_they_are_for() -> None:
    reads = {"form": "vmm", "cache": "writeback", "queue_depth": 64, "disk_bytes": 2**30}
    result = vl.run(scenario(packets=1500, **reads))
    assert 0 < result.blk.cache_miss_pages <= 1500
    assert result.blk.cache_hit_pages + result.blk.cache_miss_pages == 1500


def test_the_bare_host_does_not_pay_for_a_virtual_machine() -> None:
    fast, slow = (
        vl.run(scenario(form="host", disk="ram", queue_depth=1, costs={"guest_ipi": us}))
        for us in (1.0, 1000.0)
    )
    assert fast.latency == slow.latency
