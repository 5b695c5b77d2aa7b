"""The command `vringlab`: what it prints, its exit codes, and one line for an error."""

import json
import stat
import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import pytest
import vringlab as vl
from vringlab import cli
from vringlab.flame import unfold
from vringlab.reproduce import experiments
from vringlab.settings import scenario_of


@pytest.fixture
def command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, str, str]]:
    """Runs it in an empty folder: (exit code, output, errors)."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["vringlab", *arguments])
        with pytest.raises(SystemExit) as end:
            cli.main()
        assert isinstance(end.value.code, int)
        return end.value.code, *capfd.readouterr()

    return run


Command = Callable[..., tuple[int, str, str]]


def test_version_and_help(command: Command) -> None:
    assert command("--version") == (0, f"{vl.version}\n", "")
    for arguments in ([], ["--help"], ["run", "--help"]):
        code, output, errors = command(*arguments)
        assert (code, errors) == (0, "")
        assert output.startswith("Usage: ")


def test_run(command: Command) -> None:
    settings = ["--set", "packets=500", "--set", "plan=vmap", "--set", "costs.smp_mb=7"]
    result = vl.run(vl.Scenario(packets=500, plan=vl.AccessPlan.vmap(), costs={"smp_mb": 7}))
    assert command("run", *settings) == (0, result.summary() + "\n", "")
    code, output, errors = command("run", "--json", *settings)
    assert (code, json.loads(output), errors) == (0, result.to_dict(), "")


def test_compare(command: Command) -> None:
    user, vmap = vl.Scenario(packets=500), vl.Scenario(packets=500, plan=vl.AccessPlan.vmap())
    expected = vl.compare(vl.run(user), vl.run(vmap)).summary() + "\n"
    assert command("compare", "--set", "packets=500") == (0, expected, "")
    two = vl.compare(vl.run(user), vl.run(user.replace(batch=1)), core="guest").summary() + "\n"
    arguments = ["--set", "packets=500", "--b", "batch=1", "--core", "guest"]
    assert command("compare", *arguments) == (0, two, "")


def test_trace(command: Command, tmp_path: Path) -> None:
    files = ["--out", "t.json", "--folded", "t.folded", "--flame", "t.svg"]
    code, output, errors = command("trace", "--set", "packets=100", *files)
    expected = vl.trace(vl.Scenario(packets=100))
    assert (code, output, errors) == (0, f"t.json: {expected!r}\n", "")
    assert json.loads((tmp_path / "t.json").read_text()) == expected.chrome()
    assert unfold((tmp_path / "t.folded").read_text()) == expected.folded()
    assert (tmp_path / "t.svg").read_text().startswith("<svg ")


def test_costs(command: Command) -> None:
    code, output, errors = command("costs")
    assert (code, len(output.splitlines()), errors) == (0, len(vl.cost_rows()), "")
    code, output, errors = command("costs", "--json")
    assert (code, json.loads(output)) == (0, [asdict(row) for row in vl.cost_rows()])


BAD = {
    "run --set packets": 'setting = "packets": must be FIELD=VALUE',
    "run --set =1": 'setting = "": must be one of host, kernel, ',
    "run --set nonsense=1": 'setting = "nonsense": must be one of host, kernel, ',
    "run --set packets=": 'packets = "": must be a whole number',
    "run --set packets=1.5": 'packets = "1.5": must be a whole number',
    "run --set packets=0": "packets = 0: must be between 1 and ",
    "run --set packets=-1": "packets = -1: must be between 1 and ",
    "run --set ring_size=3": "ring_size = 3: must be a power of two between 2 and 32768",
    "run --set event_idx=maybe": 'event_idx = "maybe": must be true or false',
    "run --set offered_pps=nan": "offered_pps = nan: must be between ",
    "run --set offered_pps=fast": 'offered_pps = "fast": must be a number',
    "run --set host=moon": 'host = "moon": must be one of ',
    "run --set plan=mmap": 'plan = "mmap": must be one of user, vmap',
    "run --set plan.guard=luck": 'guard = "luck": must be one of none, rcu, ',
    "run --set plan.map=desc": "plan.map: must be one of mapped, guard, ",
    "run --set plan.mapped=desc,head": 'mapped = "head": must be one of desc, avail, used',
    "run --set costs.nonsense=1": 'costs["nonsense"] = 1',
    "run --set costs.smp_mb=x": 'costs.smp_mb = "x": must be a number',
    "run --set blk.disks=ram": "blk.disks: must be one of form, disk, ",
    "run --set blk.jobs=many": 'blk.jobs = "many": must be a whole number',
    "run --set workload=blk --set blk.disk=tape": 'disk = "tape": must be one of ',
    "run --set blk=ram": 'setting = "blk": must be one of ',
    "run --set costs=1": 'setting = "costs": must be one of ',
    "compare --core gpu --set packets=10": 'core = "gpu": must be one of guest, worker, control',
    "reproduce": "there is no folder results/ here: say where to write with --out",
    "reproduce --out . --only nonsense": 'only = "nonsense": must be one of',
    "bench": "no build/*/vringlab_bench here: `./lab bench` builds it",
    "nonsense": "No such command 'nonsense'",
    "run --nonsense": "No such option",
}


@pytest.mark.parametrize("arguments", BAD)
def test_bad_input_is_one_line_and_2(command: Command, arguments: str) -> None:
    code, output, errors = command(*arguments.split())
    assert (code, output) == (2, "")
    assert errors.startswith(f"vringlab: {BAD[arguments]}")
    assert errors.count("\n") == 1


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plan=vmap", vl.AccessPlan.vmap()),
        ("plan=user", vl.AccessPlan.user()),
        ("plan.mapped=used", vl.AccessPlan(mapped={"used"})),
        ("plan.mapped=", vl.AccessPlan()),
        ("plan.user_access=section", vl.AccessPlan(user_access="section")),
    ],
)
def test_settings_of_a_plan(text: str, expected: vl.AccessPlan) -> None:
    assert scenario_of([text]).plan == expected


def test_a_later_setting_wins() -> None:
    settings = ["packets=1", "event_idx=true", "packets=1_000", "event_idx=0", "host=zen2-3.3"]
    assert scenario_of(settings) == vl.Scenario(packets=1000, host="zen2-3.3")


# --- benchmarks -----------------------------------------------------------------------------------

BENCHMARKS = {
    "benchmarks": [
        {"name": "fast", "ns": 5.0, "goal_ns": 10.0, "Mpps": 30.0, "goal_Mpps": 20.0},
        {"name": "plain", "real_time": 1.0},
        {"name": "slow", "memory_ratio": 1.2, "goal_memory_ratio": 1.05},
    ]
}


def stand_in(tmp_path: Path, body: str) -> None:
    """A benchmark executable that is a script."""
    path = tmp_path / "build" / "release" / "vringlab_bench"
    path.parent.mkdir(parents=True)
    path.write_text(f"#!{sys.executable}\nimport sys\n{body}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


def test_benchmarks_with_goals(command: Command, tmp_path: Path) -> None:
    stand_in(tmp_path, f"print({json.dumps(json.dumps(BENCHMARKS))})")
    code, output, errors = command("bench", "--benchmark_filter=x")
    assert (code, errors) == (1, "")
    assert [" ".join(line.split()) for line in output.splitlines()] == [
        "fast 5 ns goal 10: met",
        "fast 30 Mpps goal 20: met",
        "slow 1.2 memory_ratio goal 1.05: MISSED",
    ]


def test_benchmarks_get_further_arguments(command: Command, tmp_path: Path) -> None:
    stand_in(tmp_path, "print(sys.argv[1:], file=sys.stderr); print('{\"benchmarks\": []}')")
    code, output, errors = command("bench", "--benchmark_filter=x")
    assert (code, output) == (0, "")
    assert errors == "['--benchmark_format=json', '--benchmark_filter=x']\n"


@pytest.mark.parametrize("body", ["sys.exit(3)", "print('[]')", "print('oops')", "print('{}')"])
def test_benchmarks_that_fail(command: Command, tmp_path: Path, body: str) -> None:
    stand_in(tmp_path, body)
    code, output, errors = command("bench")
    assert (code, output) == (2, "")
    assert errors.startswith("vringlab: ")


def test_experiments_are_found() -> None:
    assert "vmap" in experiments()
