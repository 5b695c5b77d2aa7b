"""A user's own measurements: read defensively, then fitted and predicted."""

import re
from pathlib import Path

import pytest
import vringlab as vl
from vringlab.measurements import load_measurements
from vringlab.results import ResultsError

DOCUMENT = Path(__file__).parents[2] / "docs" / "validation.md"
HEADER = "id,metric,unit,value,use"
GOOD = "a,rate,Mpps,5,calibrate"


@pytest.fixture
def written(tmp_path):
    def write(text):
        path = tmp_path / "my.csv"
        path.write_text(text)
        return path

    return write


def test_the_documented_example_runs(written):
    [text] = re.findall(r"```csv\n(.*?)```", DOCUMENT.read_text(), re.DOTALL)
    path = written(text)
    found = vl.validate_measurements(path, draws=10)
    by_id = {row.id: row for row in found.rows}
    assert list(by_id) == ["user", "mapped", "gain", "busy"]
    assert {row.system for row in found.rows} == {"lab"}
    assert by_id["user"].predicted == pytest.approx(4.4, rel=0.02)
    gain = 100 * (by_id["mapped"].predicted / by_id["user"].predicted - 1)
    assert by_id["gain"].predicted == pytest.approx(gain, abs=0.01)
    assert 90 < by_id["busy"].predicted <= 100
    assert all(row.low <= row.high for row in found.rows)
    total = found.of()
    assert (total.fitted, total.predicted) == (1, 3)
    assert vl.validate_measurements(path, draws=10) == found


def test_scenario_columns_are_those_of_the_command_line(written):
    header = f"{HEADER},scenario.workload,scenario.blk.disk,scenario.plan.guard,costs.access_ok"
    path = written(f"{header}\n{GOOD},,,atomic,3\nb,rate,MB/s,300,predict,blk,ram,,\n")
    a, b = load_measurements(path)
    assert a.scenario.plan.guard == "atomic"
    assert dict(a.scenario.costs) == {"access_ok": 3}
    assert (b.scenario.workload, b.scenario.blk.disk) == ("blk", "ram")
    assert (a.relative_sigma, a.core, a.base) == (0.05, "worker", None)


@pytest.mark.parametrize(
    ("header", "rows", "message"),
    [
        ("id,metric,unit,value", "a,rate,Mpps,5", r"my\.csv, row 1: no column use"),
        (f"{HEADER},colour", f"{GOOD},red", r"my\.csv, row 1, column colour: must be one of id"),
        (HEADER, ",rate,Mpps,5,calibrate", r"my\.csv, row 2, column id: must be given"),
        (HEADER, f"{GOOD}\n{GOOD}", r'my\.csv, row 3, column id: "a" comes twice'),
        (HEADER, "a,rate,Mpps,5,predict", r"my\.csv: column use: at least one row"),
        (HEADER, "a,rate,Mpps,5,fit", r'row 2, column use: "fit": must be one of calibrate'),
        (HEADER, "a,rate,Mpps,x,calibrate", r'row 2, column value: "x": must be a number'),
        (HEADER, "a,rate,Mpps,,calibrate", r"row 2, column value: nan: must be a finite"),
        (HEADER, "a,rate,Mpps,inf,calibrate", r"row 2, column value: inf: must be a finite"),
        (HEADER, "a,rate,Mpps,-1,calibrate", r"row 2, column value: -1.0: must be positive"),
        (HEADER, "a,rate,Gbps,5,calibrate", r'row 2, column unit: "Gbps": must be one of pps'),
        (HEADER, "a,speed,Mpps,5,calibrate", r'row 2, column metric: "speed": must be rate, gain'),
        (HEADER, "a,gain,pps,5,predict", r'row 2, column unit: "pps": must be %'),
        (HEADER, "a,gain,%,5,calibrate", r"row 2, column use: calibrate: only a rate"),
        (HEADER, f"{GOOD}\nb,gain,%,5,predict", r"row 3, column metric: gain: a column base"),
        (f"{HEADER},core", f"{GOOD},gpu", r'row 2, column core: "gpu": must be one of guest'),
        (
            f"{HEADER},relative_sigma",
            f"{GOOD},0",
            r"row 2, column relative_sigma: 0.0: must be above 0",
        ),
        (
            f"{HEADER},scenario.ring_size",
            f"{GOOD},3",
            r"row 2, column scenario\.ring_size: ring_size = 3: must be a power of two",
        ),
        (
            f"{HEADER},scenario.packets",
            f"{GOOD},many",
            r'row 2, column scenario\.packets: packets = "many": must be a whole number',
        ),
        (
            f"{HEADER},scenario.colour",
            f"{GOOD},red",
            r'column scenario\.colour: setting = "colour"',
        ),
        (f"{HEADER},costs.nothing", f"{GOOD},1", r"row 1, column costs\.nothing: there is no"),
        (f"{HEADER},scenario.plan", f"{GOOD},magic", r'column scenario\.plan: plan = "magic"'),
    ],
)
def test_errors_name_file_row_and_column(written, header, rows, message):
    with pytest.raises(ResultsError, match=message) as caught:
        load_measurements(written(f"{header}\n{rows}\n"))
    assert str(caught.value).startswith("my.csv")


def test_a_core_that_is_not_there_is_named_with_its_row(written):
    path = written(
        f"{HEADER},core,scenario.packets\n{GOOD},,500\nb,utilisation,%,5,predict,app,500\n"
    )
    with pytest.raises(ResultsError, match=r'my\.csv, row 3: core = "app": must be one of'):
        vl.validate_measurements(path, draws=2)
