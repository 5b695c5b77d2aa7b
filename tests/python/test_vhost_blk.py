"""experiments/vhost_blk: only rows to calibrate are fitted, and the tables are what they claim."""

import re
from pathlib import Path

import pytest
import vringlab as vl
from vringlab.experiments.vhost_blk import explore, switches
from vringlab.experiments.vhost_blk.base import DD_IOS, RATES, SYSTEM, VHOST, VMM, dd, fio
from vringlab.experiments.vhost_blk.fit import calibration_points, committed_fit, per_second
from vringlab.experiments.vhost_blk.report import is_miss
from vringlab.experiments.vhost_blk.system_time import published_system_times
from vringlab.published import load_published
from vringlab.results import read_table
from vringlab.validation import COLUMNS, Row

RESULTS = Path(__file__).parents[2] / "results" / "vhost_blk"
FITTED = {
    "blk.read.qemu",
    "blk.write.qemu",
    "blk2022.randread.ssd.host",
    "blk2022.randwrite.ssd.host",
    "blk.read.qemu.sys",
}


def points_of(path=None):
    return calibration_points([*load_published(path), *published_system_times()])


@pytest.fixture(scope="module")
def fit():
    return committed_fit(points_of())


# --- what is fitted -------------------------------------------------------------------------------


def test_rows_to_predict_are_not_seen_by_the_fit(other_predicted):
    points = points_of(other_predicted)
    assert points == points_of()
    assert {point.id for point in points} == FITTED


def test_nothing_of_a_kernel_thread_is_fitted():
    for point in points_of():
        assert point.scenario.blk.form in ("vmm", "host")
        assert point.scenario.blk.sector_shift == 9


def test_a_changed_row_to_calibrate_is_noticed(rewritten):
    def change(row):
        return row | {"value": "300"} if row["id"] == "blk.read.qemu" else row

    with pytest.raises(ValueError, match=r"vhost_blk/fit\.json: fitted to other data"):
        committed_fit(points_of(rewritten(change)))


def test_the_simulator_is_the_one_that_was_fitted(fit):
    points = points_of()
    results = vl.run_many([fit.apply(point.scenario) for point in points], progress=False)
    again = [
        float(f"{r.guest_system_rate if p.guest_system else r.rate_pps:.6g}")
        for p, r in zip(points, results, strict=True)
    ]
    assert again == [point.predicted_pps for point in fit.points]


def test_the_fit_meets_what_it_was_fitted_to(fit):
    for point in fit.points:
        assert abs(point.residual) < 1


def test_a_system_time_is_a_point_of_its_own(fit):
    [time] = [p for p in points_of() if p.guest_system]
    assert time.rate_pps == pytest.approx(DD_IOS / 48.074)
    plain = vl.Point(id="a", scenario=time.scenario, rate_pps=1, relative_sigma=1)
    marked = vl.Point(
        id="a", scenario=time.scenario, rate_pps=1, relative_sigma=1, guest_system=True
    )
    assert vl.calibration.data_sha256([plain]) != vl.calibration.data_sha256([marked])


def test_rates_come_in_ios_a_second():
    rows = {row.id: row for row in load_published()}
    read = rows["blk.read.qemu"]
    assert per_second(read, RATES[read.id]) == pytest.approx(305e6 / 131072)
    with pytest.raises(ValueError, match=r"Mpps is no rate of a disk"):
        per_second(rows["vmap.before"], RATES[read.id])


def test_every_published_row_has_a_scenario():
    sources = ("vhost-blk-2010", "vhost-blk-2022")
    assert {row.id for row in load_published() if row.source in sources} == set(RATES)
    assert {row.id for row in published_system_times()} == set(SYSTEM)


def test_short_runs_are_where_long_ones_get(fit):
    short, long = (
        vl.run(fit.apply(scenario)).rate_pps
        for scenario in (dd("write", **VHOST), dd("write", **VHOST).replace(packets=1000))
    )
    assert short == pytest.approx(long, rel=0.01)
    short, long = (
        vl.run(fit.apply(scenario)).rate_pps
        for scenario in (fio("read"), fio("read").replace(packets=50_000))
    )
    assert short == pytest.approx(long, rel=0.03)


# --- what the tables say --------------------------------------------------------------------------


def test_the_table_has_each_row_once_and_names_its_misses():
    table = read_table(RESULTS / "table.csv", COLUMNS)
    published = {row.id: row for row in load_published()}
    report = (RESULTS / "report.md").read_text()
    misses = set()
    for row in table.rows:
        p = published[row["id"]]
        assert float(row["published"]) == p.value
        share = None
        made = Row(p, float(row["predicted"]), float(row["low"]), float(row["high"]), share)
        if is_miss(made):
            misses.add(p.id)
    assert [row["id"] for row in table.rows] == list(RATES)
    assert misses == set(re.findall(r"^- (blk\S+),", report, re.M))


def test_little_of_a_request_is_unmodelled():
    for row in read_table(RESULTS / "table.csv", COLUMNS).rows:
        if row["unmodelled_share"]:
            assert float(row["unmodelled_share"]) <= 0.2


# --- the waterfall and the sets -------------------------------------------------------------------


def test_the_ladder_goes_from_one_system_to_the_other():
    for operation in switches.OPERATIONS:
        assert switches.system(operation, ()) == dd(operation, **VMM)
        last = switches.system(operation, switches.SWITCHES)
        assert vl.run(last).cores == vl.run(dd(operation, **VHOST)).cores


def test_a_smallest_set_has_no_part_that_is_enough():
    def tried(names, mbps):
        return switches.Tried(tuple(names), mbps, 100.0)

    found = switches.smallest(
        [tried("a", 99), tried("b", 60), tried("ab", 60), tried("ac", 50), tried("abc", 50)]
    )
    assert [t.names for t in found] == [("b",), ("a", "c")]


def test_the_kernel_needs_what_the_prototype_is():
    tried = switches.sets_tried(lambda scenarios: [vl.run(next(iter(scenarios)))] * 34)
    with_kernel = [t.names for t in tried if switches.KERNEL in t.names]
    assert len(tried) == 33
    assert all(set(names) >= switches.WITHIN_KERNEL for names in with_kernel)


# --- the exploration ------------------------------------------------------------------------------


def test_a_crossover_is_where_it_pays_no_more():
    key = explore.Key("ram", 4096, 1, 1, 1)
    rates = {1: 2.0, 4: 1.5, 16: 1.0, 64: 1.01, 256: 1.0}

    class Stub:
        def __init__(self, rate: float) -> None:
            self.rate_pps = rate

    points = [
        explore.Point(
            key._replace(depth=d),
            {"kernel": Stub(r), "io_uring": Stub(1.0), "threads": Stub(0.5)},
        )
        for d, r in rates.items()
    ]
    found = {tuple(c[:4]): c[4] for c in explore.crossovers(points)}
    assert found["ram", 4096, 1, 1] == 16
