"""Profiles of the simulator, benchmarks by instructions, and builds of them in turns."""

import json
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import vringlab as vl
from vringlab import bench_counters, cli
from vringlab import profile as profile_module
from vringlab.bench_counters import against, benchmark_names, count_by_callgrind, count_by_perf
from vringlab.callgrind import UnmeasurableError
from vringlab.measuring import Build
from vringlab.profile import callgrind_stacks, perf_stacks, profile
from vringlab.results import ResultsError

ROOT = Path(__file__).parents[2]
NATIVE = ROOT / "tests" / "native"
HAS_BENCHMARK = Path("/usr/include/benchmark/benchmark.h").exists()

needs_tools = pytest.mark.skipif(
    shutil.which("g++") is None or shutil.which("valgrind") is None,
    reason="needs g++ and valgrind",
)
needs_benchmark = pytest.mark.skipif(not HAS_BENCHMARK, reason="needs Google Benchmark")


def compiled(folder: Path, name: str, *flags: str) -> Path:
    program = folder / name
    source = str(NATIVE / f"{name}.cc")
    subprocess.run(["g++", "-std=c++17", "-O2", source, *flags, "-o", str(program)], check=True)
    return program


# --- profiles -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def counted(tmp_path_factory: pytest.TempPathFactory) -> Build:
    return Build((str(compiled(tmp_path_factory.mktemp("native"), "counted")), "0"))


@needs_tools
def test_callgrind_sees_the_run_and_nothing_else(counted: Build) -> None:
    result = profile(vl.Scenario(), tool="callgrind", build=counted)
    ((stack, count),) = result.stacks.items()
    assert (result.tool, result.unit, stack) == ("callgrind", "instructions", ("run",))
    assert 3 * 300_000 < count < 10 * 300_000  # a loop of 300 000 turns


@needs_tools
def test_callgrind_stands_in_for_perf(counted: Build, monkeypatch: pytest.MonkeyPatch) -> None:
    which = shutil.which
    monkeypatch.setattr(
        profile_module.shutil, "which", lambda name: None if name == "perf" else which(name)
    )
    result = profile(vl.Scenario(), build=counted)
    assert result.tool == "callgrind"
    assert result.note.startswith("not by perf: there is no perf here; ")
    with pytest.raises(UnmeasurableError, match="there is no perf here"):
        profile(vl.Scenario(), tool="perf", build=counted)


def test_a_tool_must_be_known() -> None:
    with pytest.raises(ValueError, match='tool = "gprof": must be one of auto, perf, callgrind'):
        profile(vl.Scenario(), tool="gprof")


def test_perf_stacks_begin_at_the_run() -> None:
    text = (
        "\n\t7f1 vringlab::sim::Core::load_miss\n\t7f2 vringlab::sim::run_net_tx (inlined)\n"
        "\t7f3 vringlab::sim::run\n\t7f4 _PyEval_EvalFrameDefault\n\n"
        "\t7f2 vringlab::sim::run_net_tx\n\tffff [unknown]\n\n"
        "\t7f4 _PyEval_EvalFrameDefault\n\n"
    )
    assert perf_stacks(text) == (
        {("run", "run_net_tx", "Core::load_miss"): 1, ("run_net_tx",): 1},
        1,
    )
    assert perf_stacks("") == ({}, 0)


def test_callgrind_stacks_count_what_a_function_did_itself() -> None:
    run = "vringlab::sim::run(int)"
    lines = [
        "events: Ir",
        f"fn=(1) {run}'main",
        "10 5",
        f"cfn=(2) inner()'{run}'main",
        "calls=3 20",
        "* 700",
        "+1 6",
        "fn=(2)",
        "20 700",
        "fn=(3) malloc",
        "-3 8",
        f"fn=(4) again()'2'{run}'main",
        "1 1",
    ]
    assert callgrind_stacks(lines) == {
        ("run",): 11,
        ("run", "inner"): 700,
        ("elsewhere", "malloc"): 8,
        ("run", "again"): 1,
    }


# --- benchmarks -----------------------------------------------------------------------------------


@needs_tools
@needs_benchmark
def test_instructions_of_an_iteration_have_no_set_up(tmp_path: Path) -> None:
    program = compiled(tmp_path, "counted_bench", "-lbenchmark_main", "-lbenchmark", "-lpthread")
    assert benchmark_names(program, []) == ["work/1000", "work/2000"]
    small, large = (count_by_callgrind(program, name) for name in ("work/1000", "work/2000"))
    assert 3 * 1000 < small < 10 * 1000
    assert large == pytest.approx(2 * small, rel=0.05)
    with pytest.raises(ResultsError, match="counted_bench: no benchmark matches"):
        benchmark_names(program, ["--benchmark_filter=nothing"])


def script(path: Path, body: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def timed(path: Path, **real_time: float) -> Path:
    """Benchmarks that always take as long."""
    names = "\n".join(real_time)
    cases = " ".join(f"*=^{name}\\$*) time={ns};;" for name, ns in real_time.items())
    return script(
        path,
        f"case $* in *list_tests*) echo '{names}'; exit;; {cases} esac\n"
        'echo "{\\"benchmarks\\": [{\\"real_time\\": $time}]}"',
    )


def test_counts_of_perf_are_used_where_they_are_given(tmp_path: Path) -> None:
    answer = json.dumps({"benchmarks": [{"name": "x", "INSTRUCTIONS": 12.5}]})
    assert count_by_perf(script(tmp_path / "with", f"echo '{answer}'"), "x") == 12.5
    assert count_by_perf(timed(tmp_path / "without", x=1.0), "x") is None


def test_two_builds_are_compared_in_turns(tmp_path: Path) -> None:
    old = timed(tmp_path / "old", same=5.0, slow=5.0, gone=1.0)
    new = timed(tmp_path / "new", same=5.0, slow=5.3, added=1.0)
    rows = list(against(new, old, [], rounds=8))
    assert [(row.benchmark, row.slower) for row in rows] == [("same", False), ("slow", True)]
    assert rows[1].test.p == 1 / 2**8
    with pytest.raises(ResultsError, match="x: no real_time"):
        bench_counters._real_time(script(tmp_path / "x", "echo '{\"benchmarks\": []}'"), "x", [])


# --- commands -------------------------------------------------------------------------------------


@pytest.fixture
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., int]:
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str) -> int:
        monkeypatch.setattr(sys, "argv", ["vringlab", *arguments])
        with pytest.raises(SystemExit) as end:
            cli.main()
        assert isinstance(end.value.code, int)
        return end.value.code

    return run


def test_bench_against(
    command: Callable[..., int], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    timed(tmp_path / "build" / "release" / "vringlab_bench", a=2.0)
    timed(tmp_path / "fast", a=1.0)
    timed(tmp_path / "other", b=1.0)
    assert command("bench", "--against", "fast", "--rounds", "8") == 1
    assert "+100.0 %, p = 0.0039   SLOWER" in capsys.readouterr().out
    assert command("bench", "--against", "build/release/vringlab_bench", "--rounds", "8") == 0
    assert command("bench", "--against", "other", "--rounds", "8") == 2
    assert command("bench", "--against", "nowhere") == 2
    assert "nowhere: no such benchmarks" in capsys.readouterr().err


def test_profile_writes_a_flame_graph(
    command: Callable[..., int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stacks = {("run", "f"): 3, ("run",): 1}
    made = profile_module.Profile("perf", "samples", stacks, "none left out")
    monkeypatch.setattr("vringlab.bench_cli.profile", lambda scenario, tool: made)
    assert command("profile", "--set", "packets=10", "--folded", "f") == 0
    assert "run: 4 samples, 100.00 %" in (tmp_path / "flame.svg").read_text()
    assert (tmp_path / "f").read_text() == "run 1\nrun;f 3\n"
