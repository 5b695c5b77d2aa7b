"""experiments/premapped: only rows to calibrate are fitted, and the tables are what they claim."""

from pathlib import Path

import pytest
import vringlab as vl
from vringlab.experiments.premapped.base import RATES, RECEIVE
from vringlab.experiments.premapped.fit import calibration_points, committed_fit
from vringlab.published import load_published
from vringlab.results import read_table
from vringlab.validation import COLUMNS

RESULTS = Path(__file__).parents[2] / "results" / "premapped"


def points_of(path=None):
    return calibration_points(load_published(path))


def test_rows_to_predict_are_not_seen_by_the_fit(other_predicted):
    points = points_of(other_predicted)
    assert points == points_of()
    assert {point.id for point in points} == {"dmamerge.lazy.before", "dmamerge.strict.before"}
    assert not any(point.scenario.dma_merge for point in points)


def test_a_changed_row_to_calibrate_is_noticed(rewritten):
    def change(row):
        return row | {"value": "500000"} if row["id"] == "dmamerge.strict.before" else row

    with pytest.raises(ValueError, match=r"premapped/fit\.json: fitted to other data"):
        committed_fit(points_of(rewritten(change)))


def test_the_simulator_is_the_one_that_was_fitted():
    points = points_of()
    fit = committed_fit(points)
    results = vl.run_many([fit.apply(point.scenario) for point in points], progress=False)
    again = [float(f"{result.rate_pps:.6g}") for result in results]
    assert again == [point.predicted_pps for point in fit.points]
    assert all(abs(point.residual) < 1 for point in fit.points)


def test_the_table_has_each_row_once():
    table = read_table(RESULTS / "table.csv", COLUMNS)
    assert [row["id"] for row in table.rows] == list(RATES)


@pytest.mark.parametrize("iommu", ["off", "passthrough", "lazy", "strict", "swiotlb"])
@pytest.mark.parametrize("merge", [False, True])
def test_mappings_are_counted(iommu, merge):
    asked = RECEIVE.replace(iommu=iommu, dma_merge=merge, packets=5000)
    result = vl.run(asked)
    assert result == vl.run(asked)
    dma = result.dma
    if iommu in ("off", "passthrough"):
        assert dma == vl.DmaResult(*[0] * 8)
    else:
        assert dma.maps > dma.unmaps > 0
        per_packet = dma.unmaps / result.packets
        assert per_packet == pytest.approx(1 / 21 if merge else 1, rel=0.1)
        assert (dma.bounced_bytes > 0) == (dma.pool_slots > 0) == (iommu == "swiotlb")
        assert (dma.iotlb_misses > 0) == (dma.mapped_pages > 0) == (iommu != "swiotlb")
    for core in result.cores:
        assert sum(row.ps for row in core.ledger) == core.busy_ps


def test_the_guest_is_the_bound_and_says_where_its_time_goes():
    result = vl.run(RECEIVE.replace(iommu="strict"))
    steps = result.by("step", "guest")
    assert result.busy_ns_per_packet("guest") > result.busy_ns_per_packet("worker")
    assert steps["dma_unmap"] > steps["dma_map"] > 0


@pytest.mark.parametrize(("merge", "low", "high"), [(False, 0.4, 0.6), (True, 0.9, 1)])
def test_queues_share_one_invalidation_queue(merge, low, high):
    one = RECEIVE.replace(iommu="strict", dma_merge=merge, packets=20_000)
    five = one.replace(queue_pairs=5, workers=5, packets=100_000)
    alone, shared = vl.run_many([one, five], progress=False)
    assert low < shared.rate_pps / 5 / alone.rate_pps < high
    assert shared.dma.unmaps / shared.packets == pytest.approx(
        alone.dma.unmaps / alone.packets, rel=0.02
    )
