"""This host's costs. What is asserted of readings can't depend on how busy the machine is."""

import json
import math
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import vringlab as vl
from vringlab import _native, cli
from vringlab.measure_host import Derived, derive
from vringlab.results import ResultsError


@pytest.fixture(scope="module")
def host() -> vl.HostFile:
    return vl.measure_host(repetitions=5)


def test_rows_are_positive_finite_and_ordered(host: vl.HostFile) -> None:
    assert len({row.name for row in host.rows}) == len(host.rows) >= 10
    for row in host.rows:
        assert 0 < row.low <= row.best <= row.high < math.inf
        assert row.readings == 5
        assert row.evidence == "measured on this machine"
        assert row.how


def test_costs_are_rows_in_their_own_unit(host: vl.HostFile) -> None:
    units = {row.name: row.unit for row in vl.cost_rows()} | {"clock_ghz": "GHz"}
    costs = [cost for row in host.rows for cost in row.costs]
    assert len(set(costs)) == len(costs)
    for row in host.rows:
        assert {units[cost] for cost in row.costs} <= {row.unit}


def test_every_probe_is_a_row_or_missing_with_a_reason(host: vl.HostFile) -> None:
    place = _native.Place(0, 0, ".")
    reasons = {probe.name: probe.missing(place) for probe in _native.probes()}
    # With one processor there is nobody to send a line to.
    assert reasons["line_transfer"] == reasons["eventfd_wakeup"] == "there is one processor"
    # What a row shows of a probe is named after it, or the row's own.
    parts = {"cycle", "eventfd_write", "page_cache_read.4096", "page_cache_read.65536"}
    parts |= {"page_cache_write.4096", "page_cache_write.65536"}
    assert set(reasons) - parts <= {row.name for row in host.rows} | set(host.missing)
    assert all(host.missing.values())


def test_cycles_say_where_they_come_from(host: vl.HostFile) -> None:
    meter = _native.Meter()
    assert meter.counts_cycles == (meter.why_not == "")
    assert host.cycles.startswith("counted by perf" if meter.counts_cycles else "nanoseconds at")


def test_a_probe_that_can_not_run_is_refused() -> None:
    line = next(p for p in _native.probes() if p.name == "line_transfer")
    with pytest.raises(ValueError, match="line_transfer: there is one processor"):
        line.readings(_native.Meter(), _native.Place(0, 0, "."), 1)


def test_a_folder_that_takes_no_file_is_named() -> None:
    read = next(p for p in _native.probes() if p.name == "page_cache_read.4096")
    with pytest.raises(RuntimeError, match="/nowhere: no file can be made there"):
        read.readings(_native.Meter(), _native.Place(0, 0, "/nowhere"), 1)
    with pytest.raises(FileNotFoundError, match="/nowhere: there is no such folder"):
        vl.measure_host(folder="/nowhere")


@pytest.mark.parametrize("repetitions", [0, 1, 10_001])
def test_repetitions_have_bounds(repetitions: int) -> None:
    with pytest.raises(ValueError, match=f"repetitions = {repetitions}: must be between 2 and"):
        vl.measure_host(repetitions=repetitions)


# --- rows made of readings ------------------------------------------------------------------------


def difference(unit: str = "cycles") -> Derived:
    return Derived("d", ("a", "b"), unit, 1.0, lambda a, b: a - b, ("smp_mb",), "a without b")


def test_cycles_are_counted_or_taken_from_the_clock() -> None:
    ns = {"cycle": [0.5, 0.5], "a": [30.0, 30.0], "b": [10.0, 10.0]}
    cycles = {"a": [50.0, 50.0], "b": [15.0, 15.0]}
    (by_clock,), _ = derive(ns, {}, [difference()])
    (counted,), _ = derive(ns, cycles, [difference()])
    (plain,), _ = derive(ns, cycles, [difference("ns")])
    assert (by_clock.best, counted.best, plain.best) == (40, 35, 20)


def test_differences_are_of_the_same_quantiles() -> None:
    ns = {"cycle": [1.0] * 3, "a": [10.0, 20.0, 300.0], "b": [295.0, 5.0, 15.0]}
    (row,), missing = derive(ns, {}, [difference("ns")])
    assert (row.low, row.best, row.high) == (5, 5, 5)
    assert missing == {}


def test_a_difference_that_is_noise_is_missing() -> None:
    ns = {"cycle": [1.0, 1.0], "a": [10.0, 11.0], "b": [10.0, 11.0]}
    assert derive(ns, {}, [difference("ns")]) == (
        [],
        {"d": "no more than the noise of what it is the difference of"},
    )
    assert derive({"cycle": [1.0, 1.0]}, {}, [difference("ns")]) == ([], {})


# --- the file -------------------------------------------------------------------------------------


def test_the_file_comes_back_and_predicts(host: vl.HostFile, tmp_path: Path) -> None:
    path = tmp_path / "host.json"
    vl.write_host(path, host)
    assert vl.read_host(path) == host
    costs = vl.host_costs(path)
    assert costs["clock_ghz"] == next(row.best for row in host.rows if row.name == "clock")
    result = vl.run(vl.Scenario(packets=200, costs=costs))
    assert result.packets == 200
    assert result.scenario.costs == costs
    priors = vl.host_priors(path)
    assert {prior.name for prior in priors} == set(costs) - {"clock_ghz"}


ROW: dict[str, Any] = {
    "name": "x",
    "costs": ["smp_mb"],
    "unit": "cycles",
    "low": 1,
    "best": 2,
    "high": 3,
    "readings": 5,
    "evidence": "measured on this machine",
    "how": "",
}
GOOD: dict[str, Any] = {
    "format": "vringlab-host",
    "version": 1,
    "cpu": "",
    "kernel": "",
    "virtual": False,
    "cycles": "",
    "rows": [ROW],
    "missing": {},
}


def with_row(**values: Any) -> dict[str, Any]:
    return GOOD | {"rows": [ROW | values]}


BROKEN: list[tuple[object, str]] = [
    ([], "the file: must be an object, not list"),
    ({}, "the file: format is missing"),
    (GOOD | {"more": 1}, "the file: there is no field more"),
    (GOOD | {"format": "x"}, "format = 'x': must be 'vringlab-host'"),
    (GOOD | {"version": 2}, "version = 2: must be 1"),
    (GOOD | {"cpu": 1}, "cpu: must be a text"),
    (GOOD | {"virtual": 1}, "virtual: must be true or false"),
    (GOOD | {"rows": {}}, "rows: must be a list"),
    (GOOD | {"missing": {"x": 1}}, "missing: x: must be a text"),
    (with_row(low=0), "x: low = 0: must be finite and above 0"),
    (with_row(best=math.inf), "x: best = inf: must be finite and above 0"),
    (with_row(best=True), "x: best: must be a number"),
    (with_row(low=2.5), "x: low, best and high must be in that order"),
    (with_row(costs=["nonsense"]), "x: costs: there is no cost row 'nonsense'"),
    (with_row(costs=[[]]), "x: costs: there is no cost row []"),
    (with_row(unit="ns"), "x: smp_mb is in cycles, not in ns"),
    (with_row(readings=0.5), "x: readings: must be a whole number"),
]


@pytest.mark.parametrize(("document", "message"), BROKEN, ids=[m for _, m in BROKEN])
def test_a_broken_file_is_named(tmp_path: Path, document: object, message: str) -> None:
    path = tmp_path / "host.json"
    path.write_text(json.dumps(document))
    with pytest.raises(ResultsError) as refusal:
        vl.read_host(path)
    assert str(refusal.value) == f"host.json: {message}"


def test_a_good_file_is_not_broken(tmp_path: Path) -> None:
    (tmp_path / "host.json").write_text(json.dumps(GOOD))
    assert vl.host_costs(tmp_path / "host.json") == {"smp_mb": 2.0}


@pytest.mark.parametrize("text", [b"", b"{", b"\xff", b"[" * 100_000])
def test_no_json(tmp_path: Path, text: bytes) -> None:
    (tmp_path / "host.json").write_bytes(text)
    with pytest.raises(ResultsError, match=r"^host\.json: not JSON: "):
        vl.read_host(tmp_path / "host.json")


def test_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["vringlab", "measure-host", "--repetitions", "3"])
    end: Callable[[], None] = cli.main
    with pytest.raises(SystemExit) as code:
        end()
    assert code.value.code == 0
    rows = vl.read_host("host.json").rows
    assert f"host.json: {len(rows)} rows, measured on this machine" in capsys.readouterr().out
