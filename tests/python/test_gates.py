"""Gates: what must be caught is, what must not be is not, and every outcome has its code."""

import json
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import vringlab as vl
from vringlab import callgrind, cli, gate_cli
from vringlab.gate_file import GateFile, default_scenarios, read_gate_file, write_gate_file
from vringlab.gate_report import junit, markdown, table
from vringlab.gates import (
    Check,
    GateStatus,
    Verdict,
    check_instructions,
    check_simulated,
    check_wall,
    compare_count,
    record,
    status_of,
    wall_verdict,
)
from vringlab.measuring import Build, Toolchain, build_at, instructions_per_packet, this_build
from vringlab.permutation import PairedTest
from vringlab.results import ResultsError

ROOT = Path(__file__).parents[2]
NONE = GateFile({}, {}, {})
TX = vl.Scenario(packets=300)
CRASHING = Build(("sh", "-c", "kill -SEGV $$", "--"))
FAILING = Build(("sh", "-c", "echo no memory >&2; exit 3", "--"))
SILENT = Build(("true",))

needs_valgrind = pytest.mark.skipif(shutil.which("valgrind") is None, reason="needs valgrind")
needs_compiler = pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")


# --- simulated results ----------------------------------------------------------------------------


def recorded_of(scenario: vl.Scenario) -> GateFile:
    return record(this_build(), [("tx", scenario)], NONE, instructions=False)


def test_equal_results_pass_and_a_changed_one_does_not() -> None:
    metrics = recorded_of(TX).metrics["tx"]
    assert check_simulated(this_build(), "tx", TX, metrics).verdict is Verdict.PASSED
    for name, value in metrics.items():
        other: int | str = value + 1 if isinstance(value, int) else "0"
        check = check_simulated(this_build(), "tx", TX, {**metrics, name: other})
        assert check.verdict is Verdict.REGRESSED
        assert f"{name} {other} -> {value}" in check.detail


def test_a_change_of_one_cost_is_caught() -> None:
    metrics = recorded_of(TX).metrics["tx"]
    dearer = TX.replace(costs={"access_ok": 2.001})
    check = check_simulated(this_build(), "tx", dearer, metrics)
    assert check.verdict is Verdict.REGRESSED
    assert "elapsed_ps" in check.detail


def test_a_metric_that_is_new_and_zero_needs_no_baseline() -> None:
    metrics = dict(recorded_of(TX).metrics["tx"])
    assert "dropped" not in metrics
    assert check_simulated(this_build(), "tx", TX, metrics).verdict is Verdict.PASSED
    del metrics["kicks"]
    assert check_simulated(this_build(), "tx", TX, metrics).verdict is Verdict.REGRESSED


@pytest.mark.parametrize(
    ("build", "detail"),
    [(CRASHING, "signal 11"), (FAILING, "status 3: no memory"), (SILENT, "printed no results")],
)
def test_a_crash_is_told_from_a_regression(build: Build, detail: str) -> None:
    check = check_simulated(build, "tx", TX, {"packets": 1})
    assert check.verdict is Verdict.CRASHED
    assert detail in check.detail


def test_every_default_scenario_has_a_name_and_results_of_its_own() -> None:
    scenarios = default_scenarios()
    gate = record(this_build(), scenarios.items(), NONE, instructions=False)
    assert len({json.dumps(dict(metrics)) for metrics in gate.metrics.values()}) == len(scenarios)
    for name, scenario in scenarios.items():
        result = vl.run(scenario)
        assert gate.metrics[name]["elapsed_ps"] == result.elapsed_ps
        assert gate.metrics[name]["guest.busy_ps"] == result.core("guest").busy_ps


# --- instructions ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def counted(tmp_path_factory: pytest.TempPathFactory) -> Callable[[int], Build]:
    """Builds of a program whose work is larger by so many thousandths."""
    program = tmp_path_factory.mktemp("native") / "counted"
    source = ROOT / "tests" / "native" / "counted.cc"
    subprocess.run(["g++", "-O2", str(source), "-o", str(program)], check=True)
    return lambda per_mille: Build((str(program), str(per_mille)))


@needs_valgrind
@needs_compiler
def test_three_percent_more_instructions_are_caught(counted: Callable[[int], Build]) -> None:
    gate = record_counts(counted(0))
    verdicts = {
        per_mille: check_instructions(counted(per_mille), {"tx": TX}, gate)[0].verdict
        for per_mille in (0, 9, 11, 30)
    }
    assert verdicts == {
        0: Verdict.PASSED,
        9: Verdict.PASSED,
        11: Verdict.REGRESSED,
        30: Verdict.REGRESSED,
    }
    assert check_instructions(counted(0), {"tx": TX}, record_counts(counted(30)))[0].verdict is (
        Verdict.IMPROVED
    )


def record_counts(build: Build) -> GateFile:
    counts, toolchain = instructions_per_packet(build, [TX])
    return GateFile({"tx": TX}, {}, {toolchain: {"tx": counts[0]}})


@needs_valgrind
def test_the_same_build_again_passes_and_three_percent_less_recorded_does_not() -> None:
    gate = record(this_build(), [("tx", TX)], NONE, instructions=True)
    ((toolchain, counts),) = gate.instructions.items()
    assert 500 < counts["tx"] < 5000
    assert check_instructions(this_build(), {"tx": TX}, gate)[0].verdict is Verdict.PASSED
    verdict, _ = compare_count(counts["tx"], counts["tx"] / 1.03, toolchain)
    assert verdict is Verdict.REGRESSED


@needs_valgrind
def test_another_toolchain_has_no_baseline(counted: Callable[[int], Build]) -> None:
    other = Toolchain("other", "other", "other", "other")
    gate = GateFile({"tx": TX}, {}, {other: {"tx": 1.0}})
    check = check_instructions(counted(0), {"tx": TX}, gate)[0]
    assert check.verdict is Verdict.MISSING
    assert "no instructions recorded by test" in check.detail


def test_nothing_recorded_is_no_baseline() -> None:
    assert check_instructions(CRASHING, {"tx": TX}, NONE)[0].verdict is Verdict.MISSING


SOME = GateFile({"tx": TX}, {}, {Toolchain("a", "b", "c", "d"): {"tx": 1.0}})


@needs_valgrind
def test_a_crash_under_callgrind() -> None:
    check = check_instructions(CRASHING, {"tx": TX}, SOME)[0]
    assert (check.verdict, check.detail) == (
        Verdict.CRASHED,
        "under callgrind it ended with signal 11",
    )


def test_no_valgrind_is_not_measurable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(callgrind.shutil, "which", lambda _: None)
    callgrind.version.cache_clear()
    check = check_instructions(this_build(), {"tx": TX}, SOME)[0]
    callgrind.version.cache_clear()
    assert check.verdict is Verdict.UNMEASURABLE
    assert check.detail == "instructions are counted by callgrind: there is no valgrind here"


# --- wall time ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ratio", "p", "verdict"),
    [
        (1.2, 0.0001, Verdict.REGRESSED),
        (1.05, 0.0099, Verdict.REGRESSED),
        (1.05, 0.01, Verdict.PASSED),
        (1.049, 0.0001, Verdict.PASSED),
        (0.5, 1.0, Verdict.PASSED),
    ],
)
def test_wall_time_needs_both_size_and_certainty(ratio: float, p: float, verdict: Verdict) -> None:
    assert wall_verdict(PairedTest(20, ratio, p), "x")[0] is verdict


def test_wall_time_is_measured_in_turns() -> None:
    check = check_wall(this_build(), this_build(), "tx", TX, rounds=8)
    assert check.kind == "wall"
    assert "of 8 pairs" in check.detail
    with pytest.raises(ValueError, match="rounds = 7: must be at least 8"):
        check_wall(this_build(), this_build(), "tx", TX, rounds=7)


def test_a_build_must_have_a_module(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="must be a module _native"):
        build_at(tmp_path)


# --- the file -------------------------------------------------------------------------------------


def test_the_file_comes_back_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "gate.json"
    scenarios = default_scenarios() | {"costs": TX.replace(costs={"smp_mb": 7})}
    metrics = {name: {"packets": 1, "guest.ledger": "ab"} for name in scenarios}
    gate = GateFile(scenarios, metrics, {Toolchain("a", "b", "c", "d"): {"tx-user": 1.5}})
    write_gate_file(path, gate)
    assert read_gate_file(path) == gate
    assert [p.name for p in tmp_path.iterdir()] == ["gate.json"]


def entry(**values: Any) -> dict[str, Any]:
    return {"tx": {"scenario": values, "metrics": {}}}


GOOD: dict[str, Any] = {
    "format": "vringlab-gate",
    "version": 1,
    "scenarios": entry(),
    "instructions_per_packet": [],
}
TOOLCHAIN = {"compiler": "a", "machine": "b", "libc": "c", "valgrind": "d"}
BROKEN: list[tuple[object, str]] = [
    ([], "the file: must be an object, not list"),
    ({}, "format = None: must be 'vringlab-gate'"),
    (GOOD | {"version": 2}, "version = 2: must be 1"),
    (GOOD | {"scenarios": []}, "scenarios: must be an object, not list"),
    (GOOD | {"scenarios": {"tx": 1}}, "tx: must be an object, not int"),
    (GOOD | {"scenarios": entry(packet=1)}, "tx: there is no field packet"),
    (GOOD | {"scenarios": entry(packets=0)}, "tx: packets = 0: must be between 1 and"),
    (GOOD | {"scenarios": entry(plan=1)}, "tx: plan: must be an object"),
    (GOOD | {"scenarios": entry(blk={"x": 1})}, "tx: blk: there is no field x"),
    (GOOD | {"scenarios": {"tx": {"scenario": {}}}}, "tx: metrics: must be an object"),
    (
        GOOD | {"scenarios": {"tx": {"scenario": {}, "metrics": {"kicks": 0.5}}}},
        "tx: kicks = 0.5: must be an integer or a digest",
    ),
    (GOOD | {"instructions_per_packet": {}}, "instructions_per_packet: must be a list"),
    (
        GOOD | {"instructions_per_packet": [{"toolchain": {"compiler": "a"}, "scenarios": {}}]},
        "toolchain: machine must be a text",
    ),
    (
        GOOD | {"instructions_per_packet": [{"toolchain": TOOLCHAIN, "scenarios": {"tx": 0}}]},
        "tx: instructions = 0: must be finite and above 0",
    ),
]


@pytest.mark.parametrize(("document", "message"), BROKEN, ids=[m for _, m in BROKEN])
def test_a_broken_file_is_named(tmp_path: Path, document: object, message: str) -> None:
    path = tmp_path / "gate.json"
    path.write_text(json.dumps(document))
    with pytest.raises(ResultsError) as refusal:
        read_gate_file(path)
    assert str(refusal.value).startswith(f"gate.json: {message}")


@pytest.mark.parametrize("text", [b"", b"{", b"\xff", b"[" * 100_000])
def test_no_json(tmp_path: Path, text: bytes) -> None:
    path = tmp_path / "gate.json"
    path.write_bytes(text)
    with pytest.raises(ResultsError, match=r"^gate\.json: not JSON: "):
        read_gate_file(path)


def test_the_committed_file_is_of_this_version() -> None:
    gate = read_gate_file(ROOT / "tests" / "gate.json")
    assert gate.scenarios == default_scenarios()
    assert all(gate.metrics.values())


# --- reports --------------------------------------------------------------------------------------


CHECKS = [
    Check("tx", "simulated", Verdict.PASSED, "18 are equal"),
    Check("tx", "instructions", Verdict.REGRESSED, "1.0 -> 1.1 | \x00"),
    Check("tx", "wall", Verdict.CRASHED, "signal 11"),
]


def test_junit() -> None:
    suite = ElementTree.fromstring(junit(CHECKS))
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("3", "1", "1")
    assert [len(case.findall("failure")) for case in suite] == [0, 1, 0]
    assert [len(case.findall("error")) for case in suite] == [0, 0, 1]
    nothing = ElementTree.fromstring(junit([]))
    assert (nothing.get("tests"), nothing.get("errors")) == ("1", "1")


def test_table_and_markdown() -> None:
    assert table(CHECKS).splitlines()[-1] == "crash: 1 of 3 checks passed"
    rows = [line for line in markdown(CHECKS).splitlines() if line.startswith("| tx")]
    assert rows[1].count("|") == 6  # one of them escaped
    assert "crash: 1 of 3 checks passed" in markdown(CHECKS)


@pytest.mark.parametrize(
    ("verdicts", "status"),
    [
        ([], GateStatus.NOTHING_RUN),
        ([Verdict.PASSED, Verdict.IMPROVED], GateStatus.PASSED),
        ([Verdict.PASSED, Verdict.MISSING], GateStatus.MISSING_BASELINE),
        ([Verdict.MISSING, Verdict.UNMEASURABLE], GateStatus.UNMEASURABLE),
        ([Verdict.UNMEASURABLE, Verdict.REGRESSED, Verdict.MISSING], GateStatus.REGRESSION),
        ([Verdict.REGRESSED, Verdict.CRASHED, Verdict.PASSED], GateStatus.CRASH),
    ],
)
def test_the_worst_verdict_decides(verdicts: list[Verdict], status: GateStatus) -> None:
    assert status_of([Check("x", "wall", verdict, "") for verdict in verdicts]) is status
    assert len(set(GateStatus)) == len(GateStatus)
    assert 2 not in list(GateStatus)  # bad input


# --- the command ----------------------------------------------------------------------------------


@pytest.fixture
def gate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., int]:
    """Runs `vringlab gate` in an empty folder."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str) -> int:
        monkeypatch.setattr(sys, "argv", ["vringlab", "gate", *arguments])
        with pytest.raises(SystemExit) as end:
            cli.main()
        assert isinstance(end.value.code, int)
        return end.value.code

    return run


QUICK = "--no-instructions"


def test_record_then_check(
    gate: Callable[..., int], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert gate("record", QUICK, "--add", "mine", "--set", "packets=300") == 0
    assert gate("check", QUICK, "--only", "mine", "--junit", "j.xml", "--markdown", "m.md") == 0
    assert "passed: 1 of 1 checks passed" in capsys.readouterr().out
    assert ElementTree.parse(tmp_path / "j.xml").getroot().get("failures") == "0"
    assert "| mine | simulated | passed |" in (tmp_path / "m.md").read_text()

    changed = (tmp_path / "gate.json").read_text().replace('"packets": 300', '"packets": 301', 1)
    (tmp_path / "gate.json").write_text(changed)
    assert gate("check", QUICK, "--only", "mine") == GateStatus.REGRESSION
    assert gate("check", QUICK) == GateStatus.REGRESSION
    assert gate("record", QUICK, "--only", "mine") == 0
    assert gate("check", QUICK, "--only", "mine") == 0
    # The default scenarios are named in the file, and not recorded.
    assert gate("check", QUICK) == GateStatus.MISSING_BASELINE


def test_codes_of_what_can_not_be_checked(
    gate: Callable[..., int],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert gate("check") == GateStatus.MISSING_BASELINE
    assert "gate.json: no such file" in capsys.readouterr().err
    (tmp_path / "gate.json").write_text(json.dumps(GOOD | {"scenarios": {}}))
    assert gate("check") == GateStatus.NOTHING_RUN
    (tmp_path / "gate.json").write_text(json.dumps(GOOD))
    assert gate("check", QUICK) == GateStatus.MISSING_BASELINE
    assert gate("check", QUICK, "--only", "x") == cli.BAD_INPUT
    assert gate("record", QUICK, "--set", "packets=1") == cli.BAD_INPUT
    (tmp_path / "gate.json").write_text("{}")
    assert gate("check") == cli.BAD_INPUT
    (tmp_path / "gate.json").write_text(json.dumps(GOOD))
    monkeypatch.setattr(gate_cli, "this_build", lambda: CRASHING)
    assert gate("record", QUICK) == GateStatus.CRASH
