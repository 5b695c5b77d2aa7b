"""experiments/premapped: only rows to calibrate are fitted, and the tables are what they claim."""

import math
from pathlib import Path

import pytest
import vringlab as vl
from vringlab.experiments.premapped import explore, fragments, sockets
from vringlab.experiments.premapped.base import RATES, RECEIVE, SOCKETS, columns_of
from vringlab.experiments.premapped.fit import SCENARIOS, calibration_points, committed_fit
from vringlab.published import Published, load_published
from vringlab.results import read_table
from vringlab.validation import COLUMNS, utilisation_row

RESULTS = Path(__file__).parents[2] / "results" / "premapped"
FITTED = {
    "fit.json": {"dmamerge.lazy.before", "dmamerge.strict.before"},
    "fit_afxdp.json": {"afxdp.xmit.sockperf.rate", "afxdp.recv.sockperf.rate"},
}
SOURCES = ("premapped-2023", "afxdp-2023")


@pytest.mark.parametrize("file", SCENARIOS)
def test_rows_to_predict_are_not_seen_by_the_fit(file, other_predicted):
    points = calibration_points(load_published(other_predicted), file)
    assert points == calibration_points(load_published(), file)
    assert {point.id for point in points} == FITTED[file]
    assert not any(point.scenario.dma_merge for point in points)
    assert not any(point.scenario.guest == "vm-xsk" for point in points)


@pytest.mark.parametrize("file", SCENARIOS)
def test_a_changed_row_to_calibrate_is_noticed(file, rewritten):
    def change(row):
        return row | {"value": "500000"} if row["id"] in FITTED[file] else row

    with pytest.raises(ValueError, match=f"premapped/{file}: fitted to other data"):
        committed_fit(load_published(rewritten(change)), file)


@pytest.mark.parametrize("file", SCENARIOS)
def test_the_simulator_is_the_one_that_was_fitted(file):
    points = calibration_points(load_published(), file)
    fit = committed_fit(load_published(), file)
    results = vl.run_many([fit.apply(point.scenario) for point in points], progress=False)
    again = [float(f"{result.rate_pps:.6g}") for result in results]
    assert again == [point.predicted_pps for point in fit.points]
    assert all(abs(point.residual) < 1 for point in fit.points)


def test_the_table_has_each_row_once():
    table = read_table(RESULTS / "table.csv", COLUMNS)
    published = [row.id for row in load_published() if row.source in SOURCES]
    assert [row["id"] for row in table.rows] == published
    assert set(RATES) <= set(published)
    assert {f"{name}.rate" for name in SOCKETS} <= set(published)


@pytest.mark.parametrize("iommu", ["off", "passthrough", "lazy", "strict"])
@pytest.mark.parametrize("merge", [False, True])
def test_mappings_are_counted(iommu, merge):
    asked = RECEIVE.replace(iommu=iommu, dma_merge=merge, packets=5000)
    result = vl.run(asked)
    assert result == vl.run(asked)
    dma = result.dma
    if iommu in ("off", "passthrough"):
        assert dma == type(dma)(*[0] * len(type(dma).__dataclass_fields__))
    else:
        assert dma.maps > dma.unmaps > 0
        per_packet = dma.unmaps / result.packets
        assert per_packet == pytest.approx(1 / 21 if merge else 1, rel=0.1)
    for core in result.cores:
        assert sum(row.ps for row in core.ledger) == core.busy_ps


def test_the_guest_is_the_bound_and_says_where_its_time_goes():
    result = vl.run(RECEIVE.replace(iommu="strict"))
    steps = result.by("step", "guest")
    assert result.busy_ns_per_packet("guest") > result.busy_ns_per_packet("worker")
    assert steps["dma_unmap"] > steps["dma_map"] > 0


@pytest.mark.parametrize("name", SOCKETS)
def test_each_column_is_a_core_and_busy_for_a_part_of_the_time(name):
    result = vl.run(SOCKETS[name].replace(packets=5000))
    for core in set(columns_of(name)):
        assert 0 < result.busy_share(core) <= 1.001
        assert result.busy_share(core) == result.core(core).busy_ps / result.elapsed_ps


def test_a_utilisation_is_of_the_core_that_is_asked_for():
    row = Published(
        id="a",
        source="s",
        workload="w",
        host="h",
        variant="v",
        metric="utilisation of a CPU",
        unit="%",
        value=50.0,
        use="predict",
        note="",
    )
    runs = [vl.run(SOCKETS["afxdp.recv.xsk"].replace(packets=n)) for n in (2000, 3000, 4000)]
    answer = utilisation_row(row, runs, "app")
    assert answer.predicted == 100 * runs[0].busy_share("app")
    assert answer.low <= answer.high
    assert answer.unmodelled_share == 0
    with pytest.raises(ValueError, match=r"^a: rate is no utilisation"):
        utilisation_row(Published(**{**vars_of(row), "metric": "rate"}), runs, "app")


def vars_of(row):
    return {name: getattr(row, name) for name in type(row).__dataclass_fields__}


def fit_free(scenarios):
    return vl.run_many(scenarios, progress=False)


def test_larger_fragments_gain_more_and_dearer_invalidations_too():
    points = {point.key: point for point in explore.mappings(fit_free)}
    for key, point in points.items():
        if key.fragment_bytes < explore.FRAGMENTS[-1]:
            more = points[key._replace(fragment_bytes=2 * key.fragment_bytes)]
            assert more.gain_percent > point.gain_percent - 3
    dear, cheap = (
        points[explore.Mapping("strict", 1514, ns, 32768)].gain_percent for ns in (4000.0, 250.0)
    )
    assert dear > 2 * cheap > 0


def test_fragments_of_a_page_cost_an_unmap_for_every_second_buffer():
    rows = fragments.fragment_variants(dict.fromkeys(fragments.MERGED, 1.0), fit_free)
    ns = {(size, name): 1e9 / pps for size, name, _, pps in rows}
    lazy, strict = fragments.MERGED
    waits = {size: ns[size, strict] - ns[size, lazy] for size in fragments.FRAGMENT_BYTES}
    # iotlb_invalidate_sync is 1000 ns.
    assert waits[4096] == pytest.approx(1000 / 2, rel=0.1)
    assert waits[32768] == pytest.approx(1000 / 21, rel=0.2)


def test_hosts_say_nothing_of_a_core_that_is_not_there():
    for _, name, *figures in sockets.host_variants(fit_free):
        assert (figures[-1] is None) == (name == "afxdp.xmit.sockperf")
        assert all(figure is None or math.isfinite(figure) for figure in figures)


def test_zero_copy_stops_paying_where_its_gain_is_gone():
    points = explore.loads(fit_free)
    for way, deferred, size in explore.stops_paying(points):
        own = [p for p in points if p.key[::2] == (way, deferred) and p.key.offered_pps == 0]
        for point in own:
            if size is not None and point.key.packet_bytes >= size:
                assert point.gain <= explore.PAYS


@pytest.mark.parametrize(("merge", "low", "high"), [(False, 0.4, 0.6), (True, 0.9, 1)])
def test_queues_share_one_invalidation_queue(merge, low, high):
    one = RECEIVE.replace(iommu="strict", dma_merge=merge, packets=20_000)
    five = one.replace(queue_pairs=5, workers=5, packets=100_000)
    alone, shared = vl.run_many([one, five], progress=False)
    assert low < shared.rate_pps / 5 / alone.rate_pps < high
    assert shared.dma.unmaps / shared.packets == pytest.approx(
        alone.dma.unmaps / alone.packets, rel=0.02
    )
