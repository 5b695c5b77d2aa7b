"""sweep: which points there are, what is run and what is not, and the same table every way."""

import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import vringlab as vl
from vringlab import _native
from vringlab.run_result import UNMODELLED
from vringlab.sweeps import executors
from vringlab.sweeps.batch import Ran
from vringlab.sweeps.points import key_of, plan_of, points

BASE = vl.Scenario(packets=100)
OVER: dict[str, list[Any]] = {"batch": [1, 8, 64], "costs.smp_mb": [10, 20.5], "ring_size": [3, 64]}


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The changes of all points that are run from now on."""
    seen: list[str] = []
    run_batch = executors.run_batch

    def watched(base: vl.Scenario, changes: Sequence[str], *rest: Any) -> Ran:
        seen.extend(changes)
        return run_batch(base, changes, *rest)

    monkeypatch.setattr(executors, "run_batch", watched)
    return seen


def test_what_only_sweeps_need_is_loaded_by_them() -> None:
    code = "import sys, vringlab.cli; print({'pandas', 'pyarrow', 'scipy'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"


# --- rows and runs --------------------------------------------------------------------------------

RENAMED = {"packets": "sent_packets", "inline_packets": "sent_inline"}
KINDS = {
    "tx": vl.Scenario(packets=300, plan=vl.AccessPlan.vmap()),
    "rx": vl.Scenario(packets=300, workload="rx", guest="vm-kernel", iommu="strict"),
    "blk": vl.Scenario(packets=50, workload="blk", blk=vl.Blk(disk="ram")),
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_row_is_the_result_of_a_run(kind: str) -> None:
    base = KINDS[kind]
    (row,) = vl.sweep(base, {"seed": [3]}).to_arrow().to_pylist()
    result = vl.run(base.replace(seed=3))
    expected = {RENAMED.get(k, k): v for k, v in result.to_dict().items() if type(v) is int}
    expected["rate_pps"] = result.rate_pps
    expected["throughput_gbps"] = pytest.approx(result.throughput_gbps)
    expected["ns_per_packet"] = pytest.approx(result.ns_per_packet)
    expected["unmodelled_share"] = pytest.approx(result.unmodelled_share)
    expected["busy_ps"] = sum(core.busy_ps for core in result.cores)
    for name in ("guest", "worker"):
        expected[f"{name}_busy_ps"] = result.core(name).busy_ps
        expected[f"{name}_idle_ps"] = result.core(name).idle_ps
    costs = result.core("worker").ledger
    expected["worker_unmodelled_ps"] = sum(r.ps for r in costs if r.cost in UNMODELLED)
    for group, known in (("latency", True), ("dma", kind == "rx"), ("blk", kind == "blk")):
        for name, value in result.to_dict()[group].items():
            expected[f"{group}_{name}"] = value if known else None
    about = {"key": key_of(result.scenario), "seed": 3, "status": "ok", "error": None}
    assert row == about | expected


def test_no_column_has_the_name_of_a_field() -> None:
    fields = set(vl.Scenario.__dataclass_fields__)
    assert not fields & {*_native.batch_columns, "key", "status", "error"}


def test_points_are_in_the_order_of_the_grid() -> None:
    frame = vl.sweep(BASE, OVER).to_pandas()
    expected = [(b, c, r) for b in OVER["batch"] for c in (10, 20.5) for r in OVER["ring_size"]]
    assert list(zip(*(frame[axis] for axis in OVER), strict=True)) == expected


@pytest.mark.parametrize(
    "over",
    [
        OVER | {"ring_size": [4]},
        {"plan": ["user", vl.AccessPlan.vmap("atomic")], "plan.used_element": ["two_words"]},
        {"plan.mapped": [["used"], {"desc", "avail"}], "plan.guard": ["none"]},
        {"plan.guard": ["none"], "plan": ["vmap"]},
        {"blk.queue_depth": [1, 2], "workload": ["blk"], "packets": [1]},
        {"blk": [vl.Blk(disk="ram")], "workload": ["blk"]},
        {"costs": [{"smp_mb": 3}, {}], "costs.access_ok": [1, 2]},
        {"event_idx": [True, np.False_], "offered_pps": [1e6]},
    ],
)
def test_a_key_is_that_of_the_scenario(over: dict[str, Any]) -> None:
    results = vl.sweep(BASE, over)
    keys = results.to_pandas()["key"].to_list()
    assert len(set(keys)) == len(keys) == results.points
    for key in keys:
        assert key_of(results.scenario(key)) == key
        assert results.scenario(key) != BASE


def test_a_key_is_the_hash_of_scenario_costs_and_version() -> None:
    scenario = BASE.replace(costs={"smp_mb": 3})
    whole = {"model": _native.model(), "scenario": scenario.to_dict(), "version": vl.version}
    text = json.dumps(whole, sort_keys=True, separators=(",", ":"))
    assert key_of(scenario) == hashlib.sha256(text.encode()).hexdigest()
    assert len(_native.model()) == 64


def test_a_whole_group_comes_before_its_members() -> None:
    results = vl.sweep(BASE, {"plan.guard": ["none"], "plan": ["vmap"]})
    (key,) = results.to_pandas()["key"]
    assert results.scenario(key).plan == vl.AccessPlan.vmap("none")


# --- the same table, however it is run ------------------------------------------------------------


def test_results_do_not_depend_on_executor_or_batch() -> None:
    expected = vl.sweep(BASE, OVER, workers=1, batch=100).to_arrow()
    assert expected["status"].to_pylist() == ["failed", "ok"] * 6
    for workers, batch in ((1, 1), (2, 5), (7, None), (2, 100)):
        assert vl.sweep(BASE, OVER, workers=workers, batch=batch).to_arrow() == expected
    pools: list[Callable[[], Executor]] = [
        lambda: ThreadPoolExecutor(3),
        lambda: ProcessPoolExecutor(2, get_context("forkserver")),
    ]
    for pool in pools:
        with pool() as executor:
            assert vl.sweep(BASE, OVER, executor=executor, batch=5).to_arrow() == expected


def test_what_an_executor_must_be() -> None:
    with pytest.raises(TypeError, match=r"^executor must be None, a concurrent.futures.Executor"):
        vl.sweep(BASE, OVER, executor=7)
    for name in ("workers", "batch"):
        with pytest.raises(ValueError, match=f"^{name} = 0: must be at least 1"):
            vl.sweep(BASE, OVER, **{name: 0})  # type: ignore[arg-type]


def test_a_pool_that_breaks_is_an_error_and_the_sweep_goes_on_later(tmp_path: Path) -> None:
    vl.sweep(BASE, OVER | {"batch": [1]}, out=tmp_path)
    with ProcessPoolExecutor(1, get_context("forkserver"), os._exit, (1,)) as pool:
        expected = r": 8 of 12 points were not run: .*; the same sweep goes on from there$"
        with pytest.raises(vl.SweepError, match=expected):
            vl.sweep(BASE, OVER, out=tmp_path, executor=pool)
    assert vl.open_results(tmp_path).missing == 8
    assert vl.sweep(BASE, OVER, out=tmp_path).missing == 0


def test_a_worker_of_another_model_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(executors, "identity", lambda: ("9.9", "0" * 64))
    with pytest.raises(vl.SweepError, match=r"this worker has vringlab .*; the sweep is of 9\.9"):
        vl.sweep(BASE, OVER)


# --- what is finished -----------------------------------------------------------------------------


def test_finished_points_are_not_run_again(tmp_path: Path, ran: list[str]) -> None:
    first = vl.sweep(BASE, OVER, out=tmp_path).to_arrow()
    assert len(ran) == 12
    assert vl.sweep(BASE, OVER, out=tmp_path).to_arrow() == first
    assert len(ran) == 12
    more = vl.sweep(BASE, OVER | {"batch": [2, 8]}, out=tmp_path)
    assert [json.loads(text)["batch"] for text in ran[12:]] == [2] * 4
    assert more.to_pandas()["batch"].to_list() == [2] * 4 + [8] * 4
    assert vl.open_results(tmp_path).to_arrow() == more.to_arrow()


def test_failed_points_are_run_again_if_asked(tmp_path: Path, ran: list[str]) -> None:
    first = vl.sweep(BASE, OVER, out=tmp_path, batch=5)
    assert (first.failed, len(first.errors())) == (6, 6)
    del ran[:]
    assert vl.sweep(BASE, OVER, out=tmp_path).failed == 6
    assert not ran
    again = vl.sweep(BASE, OVER, out=tmp_path, retry_failed=True)
    assert [json.loads(text)["ring_size"] for text in ran] == [3] * 6
    assert again.to_arrow() == first.to_arrow()


def test_a_folder_of_another_sweep_is_refused(tmp_path: Path) -> None:
    vl.sweep(BASE, {"batch": [1]}, out=tmp_path)
    with pytest.raises(vl.SweepError, match=r": has a sweep of another base \(packet_bytes differ"):
        vl.sweep(BASE.replace(packet_bytes=65), {"batch": [1]}, out=tmp_path)
    with pytest.raises(vl.SweepError, match=r": has a sweep over batch, not kernel$"):
        vl.sweep(BASE, {"kernel": ["v5.0"]}, out=tmp_path)


def test_a_temporary_folder_goes_with_its_results() -> None:
    results = vl.sweep(BASE, {"batch": [1]})
    path = results.path
    assert path.is_dir()
    del results
    assert not path.exists()


SLOW = """
import sys, vringlab as vl
if __name__ == "__main__":
    base = vl.Scenario(packets=200_000)
    vl.sweep(base, {"packet_bytes": list(range(64, 84))}, batch=1, workers=1, out=sys.argv[1])
"""


def slow_sweep(path: Path, **options: Any) -> vl.SweepResult:
    base = vl.Scenario(packets=200_000)
    return vl.sweep(base, {"packet_bytes": list(range(64, 84))}, out=path, **options)


@pytest.mark.parametrize(("end", "code"), [(signal.SIGKILL, -9), (signal.SIGINT, -2)])
def test_a_sweep_that_was_stopped_goes_on(
    tmp_path: Path, ran: list[str], end: signal.Signals, code: int
) -> None:
    child = subprocess.Popen([sys.executable, "-c", SLOW, tmp_path], stderr=subprocess.DEVNULL)
    while len(list((tmp_path / "parts").glob("*.parquet"))) < 2:
        assert child.poll() is None
        time.sleep(0.01)
    child.send_signal(end)
    assert child.wait(20) == code
    left = vl.open_results(tmp_path)
    assert 2 <= len(left) < left.points == 20
    assert left.to_pandas()["status"].eq("ok").all()
    whole = slow_sweep(tmp_path)
    assert len(ran) == left.missing == 20 - len(left)
    assert not whole.missing
    assert not list(tmp_path.rglob("*.part"))


def test_ctrl_c_keeps_what_is_done_of_a_batch(tmp_path: Path) -> None:
    def interrupted(done: int, total: int) -> None:
        if done >= 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        slow_sweep(tmp_path, batch=20, progress=interrupted)
    assert 3 <= len(vl.open_results(tmp_path)) < 20


def test_progress_counts_points(tmp_path: Path) -> None:
    vl.sweep(BASE, OVER | {"batch": [1]}, out=tmp_path)
    calls: list[tuple[int, int]] = []
    vl.sweep(BASE, OVER, out=tmp_path, batch=1, progress=lambda *call: calls.append(call))
    assert all(4 <= done <= 12 and total == 12 for done, total in calls)
    assert calls == sorted(calls)
    assert calls[-1] == (12, 12)


def test_a_bar_has_rate_and_time_left(capfd: pytest.CaptureFixture[str]) -> None:
    vl.sweep(BASE, OVER, progress=True)
    assert "12 of 12 points, " in (bar := capfd.readouterr().err)
    assert " a second 0:00:00" in bar


# --- which points ---------------------------------------------------------------------------------


def values(over: dict[str, Any], **options: Any) -> list[tuple[Any, ...]]:
    return [point.values for point in points(plan_of(BASE, over, **options))]


def test_conditional_axes() -> None:
    over = {"plan": ["user", "vmap"], "plan.guard": ["none", "rcu"], "batch": [1, 2]}
    results = vl.sweep(BASE, over, when={"plan.guard": {"plan": "vmap"}})
    rows = results.to_arrow(["plan", "plan.guard", "batch"]).to_pylist()
    guards = [(row["plan"], row["plan.guard"]) for row in rows[::2]]
    assert guards == [("user", None), ("vmap", "none"), ("vmap", "rcu")]


def test_conditions_on_members_and_on_the_base() -> None:
    over: dict[str, Any] = {"plan": ["user", "vmap"], "plan.guard": ["none", "atomic"]}
    mapped = {"plan.mapped": [["desc", "avail", "used"]]}
    assert len(values(over, when={"plan.guard": mapped})) == 3
    assert len(values(over, when={"plan.guard": {"kernel": ["v4.0", "v5.0"]}})) == 4
    assert len(values(over, when={"plan.guard": {"kernel": "v4.0"}})) == 2
    chained = {"batch": [1, 2], "ring_size": [4, 8], "seed": [1, 2]}
    conditions = {"ring_size": {"batch": 2}, "seed": {"ring_size": 8, "batch": [1, 2]}}
    expected = [(1, None, None), (2, 4, None), (2, 8, 1), (2, 8, 2)]
    assert values(chained, when=conditions) == expected


def test_paired_seeds() -> None:
    frame = vl.sweep(BASE, {"batch": [1, 2]}, seeds=[5, 7, 9]).to_pandas()
    assert frame["seed"].to_list() == [5, 7, 9] * 2
    over = {"batch": vl.Choice([1, 2, 4, 8, 16]), "ring_size": vl.Choice([64])}
    drawn = values(over, method="random", n=4, seeds=[5, 7], when={"ring_size": {"batch": 4}})
    assert {row[:2] for row in drawn if row[2] == 5} == {row[:2] for row in drawn if row[2] == 7}


NUMBERS = {"packet_bytes": vl.Range(64, 1500), "costs.smp_mb": vl.Range(1, 1000, log=True)}


@pytest.mark.parametrize("method", ["random", "lhs", "sobol"])
def test_draws_depend_on_the_seed_only(method: str) -> None:
    drawn = values(NUMBERS, method=method, n=16, seed=3)
    assert len(drawn) == 16
    assert drawn == values(NUMBERS, method=method, n=16, seed=3)
    assert drawn != values(NUMBERS, method=method, n=16, seed=4)
    assert all(type(b) is int and 64 <= b <= 1500 and 1 <= c <= 1000 for b, c in drawn)


@pytest.mark.parametrize("method", ["lhs", "sobol"])
def test_designs_fill_each_stratum_once(method: str) -> None:
    over = {"costs.smp_mb": vl.Range(0, 32), "costs.access_ok": vl.Range(1, 2**32, log=True)}
    drawn = values(over, method=method, n=32)
    assert sorted(int(a) for a, _ in drawn) == list(range(32))
    assert sorted(int(np.log2(b)) for _, b in drawn) == list(range(32))


def test_whole_numbers_have_both_ends_and_equal_draws_are_one_point() -> None:
    over = {"batch": vl.Range(1, 4), "plan": ["user", "vmap"]}
    drawn = values(over, method="random", n=500)
    assert sorted({row[0] for row in drawn}) == [1, 2, 3, 4]
    assert len(drawn) == 8


NO_FIELD = "a scenario has no such field"
BAD: dict[str, tuple[dict[str, Any], dict[str, Any], str]] = {
    "axis": ({"bach": [1]}, {}, f'over: axis "bach": {NO_FIELD}: did you mean batch?'),
    "member": ({"plan.gard": [1]}, {}, 'plan.gard": .*: did you mean plan.guard'),
    "row": ({"costs.smp_bm": [1]}, {}, 'costs.smp_bm": .*: did you mean costs.smp_mb'),
    "group": ({"smp_mb": [1]}, {}, 'smp_mb": .*: did you mean .*costs.smp_mb'),
    "no name like it": ({"xyzzy": [1]}, {}, f'over: axis "xyzzy": {NO_FIELD}$'),
    "row of a mapping": ({"costs": [{"x": 1}]}, {}, f'"costs.x": {NO_FIELD}'),
    "empty": ({"batch": []}, {}, 'over: axis "batch": has no values'),
    "twice": ({"batch": [1, 2, 1]}, {}, 'over: axis "batch": 1 stands there twice'),
    "huge": ({"batch": [2**70]}, {}, "batch = 1180591620717411303424: must be between 1 and "),
    "negative": ({"blk.jobs": [-1]}, {}, "blk.jobs = -1: must be between 1 and "),
    "huge in a whole": (
        {"blk": [vl.Blk(jobs=2**70)]},
        {},
        "blk.jobs = 1180591620717411303424: must be between 1 and ",
    ),
    "nan": ({"offered_pps": [float("nan")]}, {}, "offered_pps = nan: must be finite"),
    "plan": ({"plan": ["fast"]}, {}, 'plan = "fast": must be an AccessPlan or one of user, vmap'),
    "guard": ({"plan.guard": ["luck"]}, {}, 'guard = "luck": must be one of none, '),
    "range": ({"batch": vl.Range(1, 2)}, {}, 'axis "batch": a grid needs values, not Range'),
    "range of names": (
        {"host": vl.Range(1, 2)},
        {"method": "lhs", "n": 2},
        'axis "host": Range.*: must be a Choice',
    ),
    "halves": (
        {"batch": vl.Range(1, 2.5)},
        {"method": "lhs", "n": 2},
        'axis "batch": .*: must have whole bounds',
    ),
    "method": ({"batch": [1]}, {"method": "dice"}, 'method = "dice": must be one of grid, random'),
    "n of a grid": ({"batch": [1]}, {"n": 4}, "n = 4: is of random, lhs and sobol"),
    "no n": ({"batch": [1]}, {"method": "lhs"}, "n = None: must be at least 1 for lhs"),
    "n": ({"batch": [1]}, {"method": "sobol", "n": 9}, "n = 9: must be a power of two for sobol"),
    "seed": ({"batch": [1]}, {"seed": -1}, "seed = -1: must not be negative"),
    "seeds": ({"seed": [1]}, {"seeds": [1]}, "seeds: must not be given where seed is an axis"),
    "when": ({"batch": [1]}, {"when": {"x": {}}}, 'when: "x": must be one of the axes batch'),
    "field of when": (
        {"batch": [1]},
        {"when": {"batch": {"ring": 1}}},
        f'when: "batch": field "ring": {NO_FIELD}',
    ),
    "order of when": (
        {"batch": [1], "seed": [1]},
        {"when": {"batch": {"seed": 1}}},
        'field "seed": must stand before "batch" in over',
    ),
    "group of when": (
        {"batch": [1]},
        {"when": {"batch": {"plan": "vmap"}}},
        'field "plan": must be a member of it',
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_sweeps_run_nothing(name: str, tmp_path: Path) -> None:
    over, options, message = BAD[name]
    with pytest.raises(ValueError, match=message):
        vl.sweep(BASE, over, out=tmp_path / "new", **options)
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(
    ("over", "message"),
    [
        ([1], "over must be a mapping, not list"),
        (
            {"batch": 1},
            'over: axis "batch": must be a list of values, a Range or a Choice, not int',
        ),
        ({"host": "x"}, 'over: axis "host": must be a list of values'),
        ({"batch": [1.0]}, "batch must be an int, not float: 1.0"),
        ({"blk": [3]}, "blk must be a Blk, not int: 3"),
        ({"plan": [3]}, "plan must be an AccessPlan, not int: 3"),
    ],
)
def test_wrong_types(over: Any, message: str) -> None:
    with pytest.raises(TypeError, match=f"^{message}"):
        vl.sweep(BASE, over)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((2, 1), "low = 2: must be at most high = 1"),
        ((0, 1, True), "low = 0: must be above 0 where log is set"),
        ((1, float("inf")), "high = inf: must be finite"),
    ],
)
def test_bad_ranges(arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises(ValueError, match=f"^{message}"):
        vl.Range(*arguments)
