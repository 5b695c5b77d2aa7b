"""run, run_many and Result: what they give, that they can be watched, shared and interrupted."""

import dataclasses
import json
import math
import os
import pickle
import pty
import select
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from typing import Any

import numpy as np
import pytest
import vringlab as vl
from vringlab import _native
from vringlab.scenario import native_scenario

ENDLESS = 10**12  # packets: a day at the speed of the simulator
LONG = 4_000_000  # packets: longer than a bar waits


@pytest.fixture(scope="module")
def result() -> vl.Result:
    return vl.run(vl.Scenario(packets=2000, plan=vl.AccessPlan.vmap(), packet_bytes=100))


# --- Result ---------------------------------------------------------------------------------------


def test_fields_are_those_of_the_simulator() -> None:
    def native(kind: type) -> list[str]:
        return [name for name, value in vars(kind).items() if isinstance(value, property)]

    def ours(kind: Any) -> list[str]:
        return [field.name for field in dataclasses.fields(kind)]

    assert ours(vl.Result)[1:] == native(_native.RunResult)
    assert ours(vl.CoreResult) == native(_native.CoreResult)
    assert ours(vl.LedgerRow) == native(_native.LedgerRow)
    assert ours(vl.Latency) == native(_native.LatencyResult)


def test_fields_have_the_declared_types(result: vl.Result) -> None:
    for field in dataclasses.fields(vl.Result):
        if field.type in (int, float):
            assert type(getattr(result, field.name)) is field.type
    assert [core.name for core in result.cores] == ["guest", "worker", "control"]
    assert {type(core) for core in result.cores} == {vl.CoreResult}
    for core in result.cores:
        assert type(core.ledger) is tuple
        assert all(row.step in vl.STEPS and row.cost in vl.COSTS for row in core.ledger)
        assert all(row.ps > 0 for row in core.ledger)


def test_frozen_hashable_and_equal_after_a_pickle(result: vl.Result) -> None:
    again = pickle.loads(pickle.dumps(result))
    assert (again, hash(again), repr(again)) == (result, hash(result), repr(result))
    assert vl.run(result.scenario) == result
    with pytest.raises(dataclasses.FrozenInstanceError):
        result.packets = 1  # type: ignore[misc]


def test_rates(result: vl.Result) -> None:
    assert result.rate_mpps == result.rate_pps / 1e6
    assert result.ns_per_packet == pytest.approx(1e3 / result.rate_mpps)
    worker = result.core("worker")
    assert result.core() is worker
    assert result.busy_ns_per_packet() == pytest.approx(worker.busy_ps / 2000 / 1000)


def test_unmodelled_share_is_that_of_the_ledger(result: vl.Result) -> None:
    waterfall = result.waterfall("worker")
    unmodelled = sum(ns for (_, cost), ns in waterfall.items() if cost == "unmodelled")
    assert 0 < result.unmodelled_share < 1
    assert result.unmodelled_share == pytest.approx(unmodelled / result.busy_ns_per_packet())


@pytest.mark.parametrize("core", ["guest", "worker", "control"])
def test_views_of_a_ledger_agree(result: vl.Result, core: str) -> None:
    waterfall, matrix = result.waterfall(core), result.matrix(core)
    assert list(waterfall.values()) == sorted(waterfall.values(), reverse=True)
    assert (matrix.shape, matrix.dtype) == ((len(vl.STEPS), len(vl.COSTS)), np.float64)
    assert matrix.sum() == pytest.approx(result.busy_ns_per_packet(core))
    for (step, cost), ns in waterfall.items():
        assert matrix[vl.STEPS.index(step), vl.COSTS.index(cost)] == ns
    for axis, names, sums in (("step", vl.STEPS, matrix.sum(1)), ("cost", vl.COSTS, matrix.sum(0))):
        by = result.by(axis, core)
        assert list(by) == [name for name in names if name in by]
        assert by == pytest.approx({n: s for n, s in zip(names, sums, strict=True) if s > 0})


def test_unknown_names(result: vl.Result) -> None:
    with pytest.raises(ValueError, match='core = "cpu0": must be one of guest, worker, control'):
        result.waterfall("cpu0")
    with pytest.raises(ValueError, match='axis = "time": must be one of step, cost'):
        result.by("time")


def test_everything_shown_says_that_it_is_simulated(result: vl.Result) -> None:
    assert repr(result).startswith("Result(simulated ")
    assert len(repr(result)) < 100
    assert result.summary().startswith("simulated ")
    assert "unmodelled" in result.summary()
    assert all(step in result.summary() for step in result.by("step"))
    assert repr(result.core()).startswith("CoreResult(worker: ")


def test_to_dict_is_json_and_complete(result: vl.Result) -> None:
    values = result.to_dict()
    assert json.loads(json.dumps(values)) == values
    assert list(values) == [field.name for field in dataclasses.fields(vl.Result)]
    ledger = values["cores"][1]["ledger"]
    assert sum(row["ps"] for row in ledger) == result.core().busy_ps


def test_a_run_in_no_time_has_views() -> None:
    free = vl.run(vl.Scenario(packets=100, costs={row.name: 0 for row in vl.cost_rows()}))
    assert free.elapsed_ps == 0
    assert math.isnan(free.unmodelled_share)
    assert "simulated" in free.summary()


# --- run and run_many -----------------------------------------------------------------------------

FEW = [vl.Scenario(packets=n, batch=b) for n in (200, 1000) for b in (1, 16, 64)]


@pytest.mark.parametrize("workers", [None, 1, 2, 7])
def test_results_do_not_depend_on_workers(workers: int | None) -> None:
    assert vl.run_many(FEW, workers=workers) == [vl.run(scenario) for scenario in FEW]


def test_any_iterable_is_run() -> None:
    assert vl.run_many([]) == []
    results = vl.run_many(scenario for scenario in FEW)
    assert [r.scenario for r in results] == FEW


def test_runs_in_threads_and_processes_of_the_caller() -> None:
    expected = vl.run_many(FEW)
    with ThreadPoolExecutor(2) as threads:
        assert list(threads.map(vl.run, FEW)) == expected
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as processes:
        assert list(processes.map(vl.run, FEW)) == expected


@pytest.mark.parametrize("value", [None, {}, "Scenario()", _native.Scenario(), vl.Scenario])
def test_only_scenarios_are_run(value: Any) -> None:
    with pytest.raises(TypeError, match=r"^scenario must be a Scenario, not "):
        vl.run(value)
    with pytest.raises(TypeError, match=r"^scenarios\[1\] must be a Scenario, not "):
        vl.run_many([vl.Scenario(), value])


@pytest.mark.parametrize("workers", [0, -1, -(2**70)])
def test_bad_workers(workers: int) -> None:
    with pytest.raises(ValueError, match=f"workers = {workers}: must be at least 1"):
        vl.run_many(FEW, workers=workers)


@pytest.mark.parametrize("workers", [1.0, "2", True])
def test_workers_of_a_wrong_type(workers: Any) -> None:
    with pytest.raises(TypeError, match=r"^workers must be an int"):
        vl.run_many(FEW, workers=workers)


# --- progress -------------------------------------------------------------------------------------


def test_progress_is_told_to_a_function() -> None:
    told: list[tuple[int, int]] = []
    vl.run_many(FEW, progress=lambda done, total: told.append((done, total)))
    assert told[-1] == (3600, 3600)
    assert told == sorted(told)


def test_nothing_is_shown_where_there_is_no_terminal(capfd: pytest.CaptureFixture[str]) -> None:
    vl.run(vl.Scenario(packets=LONG))
    assert capfd.readouterr() == ("", "")


def test_a_bar_on_request(capfd: pytest.CaptureFixture[str]) -> None:
    vl.run(vl.Scenario(packets=1000), progress=True)
    assert "simulating" in capfd.readouterr().err
    vl.run(vl.Scenario(packets=1000), progress=False)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("progress", ["yes", 1, 0, []])
def test_progress_of_a_wrong_type(progress: Any) -> None:
    with pytest.raises(TypeError, match=r"^progress must be "):
        vl.run(vl.Scenario(), progress=progress)


def test_what_progress_raises_ends_the_run() -> None:
    def enough(done: int, total: int) -> None:
        raise KeyError("enough")

    before = threading.active_count()
    with pytest.raises(KeyError, match="enough"):
        vl.run_many([vl.Scenario(packets=ENDLESS)] * 3, workers=2, progress=enough)
    assert threading.active_count() == before


# --- threads and signals --------------------------------------------------------------------------


def test_python_runs_while_the_simulator_does() -> None:
    """This thread sees the run advance, which it never would if the run held the GIL."""
    control = _native.RunControl()
    with ThreadPoolExecutor(1) as pool:
        run = pool.submit(_native.run, native_scenario(vl.Scenario(packets=ENDLESS)), control)
        seen: set[int] = set()
        while len(seen) < 5:
            seen.add(control.packets_done)
        control.stop = True
        assert run.result() is None


def script(body: str) -> list[str]:
    return [sys.executable, "-c", f"import vringlab as vl\n{body}"]


TELL = "told = lambda done, total: print(done, flush=True)\n"
LONG_SCRIPTS = {
    "run": script(f"{TELL}vl.run(vl.Scenario(packets={ENDLESS}), progress=told)"),
    "run_many": script(
        f"{TELL}vl.run_many([vl.Scenario(packets={ENDLESS})] * 5, workers=2, progress=told)"
    ),
}


@pytest.mark.parametrize("name", LONG_SCRIPTS)
def test_ctrl_c(name: str) -> None:
    with subprocess.Popen(
        LONG_SCRIPTS[name], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline()  # the run is under way
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    assert process.returncode == -signal.SIGINT
    assert errors.rstrip().endswith("KeyboardInterrupt")


def test_after_ctrl_c_one_can_go_on() -> None:
    body = (
        "import os, signal\n"
        "def interrupt(done, total): os.kill(os.getpid(), signal.SIGINT)\n"
        f"try: vl.run(vl.Scenario(packets={ENDLESS}), progress=interrupt)\n"
        "except KeyboardInterrupt: print(vl.run(vl.Scenario(packets=10)).packets)\n"
    )
    done = subprocess.run(script(body), capture_output=True, text=True, timeout=60, check=True)
    assert (done.stdout, done.stderr) == ("10\n", "")


@pytest.fixture
def terminal() -> Iterator[tuple[int, int]]:
    """Our end and the other end."""
    ends = pty.openpty()
    yield ends
    for end in ends:
        os.close(end)


def test_a_long_command_shows_a_bar_on_a_terminal_and_can_be_interrupted(
    terminal: tuple[int, int],
) -> None:
    ours, theirs = terminal
    command = [sys.executable, "-m", "vringlab", "run", "--set", f"packets={ENDLESS}"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=theirs) as process:
        shown = b""
        while b"simulating" not in shown:
            assert select.select([ours], [], [], 60)[0], "no bar within a minute"
            shown += os.read(ours, 4096)
        process.send_signal(signal.SIGINT)
        while process.poll() is None or select.select([ours], [], [], 0)[0]:
            if select.select([ours], [], [], 0.1)[0]:
                shown += os.read(ours, 4096)
    assert process.returncode == 130
    assert b"vringlab: interrupted" in shown
