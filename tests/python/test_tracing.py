"""Traces: slices add up to busy time, and the files are what their readers expect."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import vringlab as vl
from vringlab.flame import flame_svg, fold, unfold
from vringlab.results import ResultsError

SHAPES = {
    "tx": vl.Scenario(packets=200),
    "rx": vl.Scenario(workload="rx", packets=200, guest_notify="interrupt", offered_pps=2e5),
    "pairs": vl.Scenario(workload="macswap", packets=200, queue_pairs=2),
    "stream": vl.Scenario(workload="stream", guest="vm", sink="host_tcp", stream_ms=0.3),
    "blk": vl.Scenario(workload="blk", packets=100, blk=vl.Blk(disk="ram")),
    "vmm": vl.Scenario(workload="blk", packets=100, blk=vl.Blk(form="vmm")),
}


@pytest.fixture(scope="module", params=SHAPES.values(), ids=SHAPES)
def traced(request: pytest.FixtureRequest) -> vl.Trace:
    return vl.trace(request.param)


def events(trace: vl.Trace, phase: str) -> list[dict[str, Any]]:
    return [event for event in trace.chrome()["traceEvents"] if event["ph"] == phase]


def test_the_result_is_that_of_a_run(traced: vl.Trace) -> None:
    assert traced.result == vl.run(traced.result.scenario)


def test_slices_add_up_to_busy_time_exactly(traced: vl.Trace) -> None:
    busy: Counter[str] = Counter()
    for s in traced.slices:
        assert sum(s.costs.values()) == s.ps > 0
        busy[s.core.partition(" ")[0]] += s.ps
    assert busy == {core.name: core.busy_ps for core in traced.result.cores if core.busy_ps}


def test_slices_of_a_core_do_not_overlap(traced: vl.Trace) -> None:
    ends: dict[str, int] = {}
    for s in traced.slices:
        assert s.start_ps >= ends.get(s.core, 0)
        ends[s.core] = s.end_ps


def test_chrome_json_has_a_track_a_core(traced: vl.Trace) -> None:
    tracks = {e["tid"]: e["args"]["name"] for e in events(traced, "M") if "name" in e["args"]}
    slices = events(traced, "X")
    assert len(slices) == len(traced.slices)
    assert {tracks[e["tid"]] for e in slices} == {s.core for s in traced.slices}
    total = sum(e["dur"] for e in slices)
    assert total == pytest.approx(sum(s.ps for s in traced.slices) / 1e6)


def test_arrows_begin_and_end_in_slices_and_go_forward(traced: vl.Trace) -> None:
    begins, ends = ({e["id"]: e for e in events(traced, phase)} for phase in "sf")
    assert begins.keys() == ends.keys()
    starts = {(e["tid"], e["ts"]) for e in events(traced, "X")}
    for number, begin in begins.items():
        end = ends[number]
        assert begin["ts"] < end["ts"]
        assert begin["tid"] != end["tid"]
        assert {(e["tid"], e["ts"]) for e in (begin, end)} <= starts


def test_an_interrupt_is_an_arrow_from_worker_to_guest() -> None:
    trace = vl.trace(SHAPES["rx"])
    calls = [f for f in trace.flows if f.kind == "call"]
    assert len(calls) == trace.result.calls > 0
    assert {(f.source, f.target) for f in calls} == {("worker", "guest")}


def test_files(tmp_path: Path) -> None:
    trace = vl.trace(SHAPES["tx"])
    trace.write_chrome(tmp_path / "trace.json")
    assert json.loads((tmp_path / "trace.json").read_text()) == trace.chrome()
    assert "simulated" in trace.chrome()["otherData"]
    trace.write_folded(tmp_path / "folded")
    assert unfold((tmp_path / "folded").read_text()) == trace.folded()


def test_a_long_run_is_refused() -> None:
    with pytest.raises(ValueError, match="trace: more than 500000 slices: trace a shorter run"):
        vl.trace(vl.Scenario(packets=200_000))
    with pytest.raises(TypeError, match="scenario must be a Scenario"):
        vl.trace(1)  # type: ignore[arg-type]


# --- flame graphs ---------------------------------------------------------------------------------


def test_folded_lines_come_back() -> None:
    stacks = {("a", "b c"): 3, ("a",): 1}
    assert unfold(fold(stacks)) == stacks
    assert fold({("x;y", "\n"): 1}) == "x:y;? 1\n"


@pytest.mark.parametrize("line", ["a", " 1", "a b", "a -1", "a 1.5", ""])
def test_broken_folded_lines_are_named(line: str) -> None:
    with pytest.raises(ResultsError, match=r"^line 2: "):
        unfold(f"a 1\n{line}\n")


def test_a_flame_graph_draws_callers_as_wide_as_what_they_call() -> None:
    import xml.etree.ElementTree as ElementTree

    svg = flame_svg({("a", "<b>"): 30, ("a", "c"): 10, ("d",): 60}, title="t & u", unit="ps")
    root = ElementTree.fromstring(svg)
    groups = root.findall("{*}g")
    titles = [g.findtext("{*}title") for g in groups]
    widths = [float(g.find("{*}rect").get("width", "")) for g in groups]  # type: ignore[union-attr]
    named = dict(zip(titles, widths, strict=True))
    assert named["a: 40 ps, 40.00 %"] == pytest.approx(
        named["<b>: 30 ps, 30.00 %"] + named["c: 10 ps, 10.00 %"], abs=0.02
    )
    assert named["all: 100 ps, 100.00 %"] == max(widths)


def test_nothing_to_draw() -> None:
    for empty in ({}, {("a",): 0}):
        with pytest.raises(ValueError, match="there is nothing to draw"):
            flame_svg(empty, title="t", unit="ps")
