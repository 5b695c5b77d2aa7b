"""experiments/xdp_batch: only rows to calibrate are fitted, and the tables are what they claim."""

import json
import math
import os
import re
from pathlib import Path

import numpy as np
import pytest
import vringlab as vl
from vringlab.calibration import with_parameters
from vringlab.experiments.xdp_batch import answers, caches, latency, netperf, run, sizes, sweep
from vringlab.experiments.xdp_batch import netperf_tables as tables
from vringlab.experiments.xdp_batch.base import BATCHES, CALIBRATED, GAINS, SWEEP, SWEEP_RATES
from vringlab.experiments.xdp_batch.explorations import EXPLORATIONS
from vringlab.experiments.xdp_batch.fit import calibration_points, committed_fit
from vringlab.experiments.xdp_batch.refit import refit
from vringlab.experiments.xdp_batch.report import is_miss
from vringlab.published import load_published
from vringlab.results import read_table
from vringlab.validation import COLUMNS, Row

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "results" / "xdp_batch"
STEP = 0.05
"""In the logarithm of a cost row, for differences: that of the fit itself."""


def points_of(path=None):
    return calibration_points(load_published(path))


def test_rows_to_predict_are_not_seen_by_the_fit(other_predicted):
    points = points_of(other_predicted)
    assert points == points_of()
    assert committed_fit(points).data_sha256 == committed_fit(points_of()).data_sha256


def test_no_gain_can_be_fitted():
    assert not set(GAINS) & set(CALIBRATED)
    assert {point.id for point in points_of()} == {
        "vmap.before",
        "vmap2019.smap_on.before",
        "batchsweep.tx.1",
        "batchsweep.tx.64",
        "batchsweep.rx.64",
    }


def test_a_changed_row_to_calibrate_is_noticed(rewritten):
    def change(row):
        return row | {"value": "1700000"} if row["id"] == "batchsweep.rx.64" else row

    changed = rewritten(change)
    with pytest.raises(ValueError, match=r"xdp_batch/fit\.json: fitted to other data"):
        committed_fit(points_of(changed))


def test_the_simulator_is_the_one_that_was_fitted():
    points = points_of()
    fit = committed_fit(points)
    results = vl.run_many([fit.apply(point.scenario) for point in points], progress=False)
    again = [float(f"{result.rate_pps:.6g}") for result in results]
    assert again == [point.predicted_pps for point in fit.points]


def test_the_committed_fit_is_the_maximum_of_posterior():
    """A step of Gauss-Newton moves no row by a tenth of its standard deviation. A whole fit takes
    a minute; rates are not smooth, so its last digits are where it stopped."""
    points = points_of()
    fit = committed_fit(points)
    moves = newton_step(fit, points)
    assert np.max(np.abs(moves) / fit.posterior_sigma) < 0.1


def newton_step(fit, points):
    """In the logarithms of the rows, from central differences."""
    at = np.log(fit.values)
    steps = STEP * np.eye(len(at))
    rates = log_rates(fit.names, points, [at, *(at + steps), *(at - steps)])
    up, down = rates[1 : len(at) + 1], rates[len(at) + 1 :]
    jacobian = (up - down).T / (2 * STEP)
    published = np.log([point.rate_pps for point in points])
    weight = np.array([point.relative_sigma for point in points]) ** -2.0
    prior_weight = fit.prior_sigma**-2.0
    normal = (jacobian.T * weight) @ jacobian + np.diag(prior_weight)
    prior_pull = prior_weight * (np.log([prior.best for prior in fit.priors]) - at)
    return np.linalg.solve(normal, (jacobian.T * weight) @ (published - rates[0]) + prior_pull)


def log_rates(names, points, at):
    """Shape (len(at), len(points))."""
    scenarios = [with_parameters(p.scenario, names, np.exp(x).tolist()) for x in at for p in points]
    results = vl.run_many(scenarios, progress=False)
    return np.log([result.rate_pps for result in results]).reshape(len(at), len(points))


@pytest.mark.skipif(not os.environ.get("VRINGLAB_SLOW"), reason="minutes: set VRINGLAB_SLOW")
def test_fitting_again_agrees_with_the_committed_fit(without_predicted):
    again = refit(without_predicted, draws=0)
    assert committed_fit(points_of()).agrees_with(again)


@pytest.fixture(scope="module")
def rows():
    table = read_table(RESULTS / "table.csv")
    assert table.columns == COLUMNS
    return table.rows


def test_table_has_every_published_row_of_its_sources(rows):
    published = [row for row in load_published() if row.source in answers.SOURCES]
    assert [row["id"] for row in rows] == [row.id for row in published]
    for row, expected in zip(rows, published, strict=True):
        kinds = (expected.metric, expected.unit, expected.use)
        assert (row["metric"], row["unit"], row["use"]) == kinds
        assert float(row["published"]) == pytest.approx(expected.value, rel=1e-5)


def test_table_has_intervals_around_the_predictions(rows):
    outside = [
        r["id"] for r in rows if not float(r["low"]) < float(r["predicted"]) < float(r["high"])
    ]
    # Of streams the interval is the least and greatest of so few draws that one more, and so the
    # fit, is in it nine times in ten.
    assert all(name.startswith(netperf.ROWS) for name in outside)
    assert len(outside) <= 0.1 * sum(row["id"].startswith(netperf.ROWS) for row in rows)


def test_fitted_rows_are_met_within_their_noise(rows):
    for row in rows:
        if row["use"] == "calibrate":
            assert abs(math.log(float(row["predicted"]) / float(row["published"]))) < 2 * 0.05


def test_the_sweep_lies_beside_the_curves_through_it(rows):
    rates = {row["id"]: row for row in rows}
    table = read_table(RESULTS / "sweep.csv")
    assert table.columns == sweep.SWEEP
    fits = {(f["workload"], f["rates"]): f for f in read_table(RESULTS / "fit_a_b.csv").rows}
    assert len(table.rows) == len(SWEEP_RATES)
    for row in table.rows:
        name = f"batchsweep.{row['workload']}.{row['batch']}"
        for rate in ("published", "predicted"):
            assert row[f"{rate}_pps"] == rates[name][rate]
            ns = 1e9 / float(row[f"{rate}_pps"])
            assert float(row[f"{rate}_ns"]) == pytest.approx(ns, rel=1e-5)
            fit = fits[row["workload"], rate]
            curve = float(fit["a_ns"]) + float(fit["b_ns"]) / int(row["batch"])
            assert float(row[f"{rate}_fit_ns"]) == pytest.approx(curve, rel=1e-5)
            distance = 100 * abs(curve / ns - 1)
            assert distance <= float(fit["worst_percent"]) + 1e-2


def test_a_curve_that_is_one_is_found():
    fit = sweep.fitted([250 + 150 / batch for batch in BATCHES])
    assert (fit.a_ns, fit.b_ns) == pytest.approx((250, 150))
    assert fit.worst_percent == pytest.approx(0, abs=1e-9)


def test_waterfall_adds_up_to_the_gains(rows):
    gains = {row["id"]: float(row["predicted"]) for row in rows}
    sums = {}
    for row in read_table(RESULTS / "waterfall.csv").rows:
        alone, batched, difference = (float(row[name]) for name in run.WATERFALL[3:])
        assert batched - alone == pytest.approx(difference, abs=1e-3)
        before, after = sums.get(row["sink"], (0, 0))
        sums[row["sink"]] = (before + alone, after + batched)
    for name, (_, batched) in GAINS.items():
        alone_ns, batched_ns = sums[batched.sink]
        # The worker never idles, but for its wake-up.
        assert 100 * (alone_ns / batched_ns - 1) == pytest.approx(gains[name], abs=0.3)


def test_explorations_have_every_case():
    cases = {
        sizes: len(sizes.SINKS) * 2 * len(sizes.BYTES) * len(sizes.BATCHES),
        caches: len(caches.BYTES) * len(caches.RINGS) * len(caches.BATCHES),
        latency: len(latency.SHARES) * len(latency.LOADS) * len(latency.BATCHES),
    }
    for name, module in EXPLORATIONS.items():
        table = read_table(RESULTS / f"{name}.csv")
        assert table.columns == module.COLUMNS
        assert len(table.rows) == cases[module]


def test_kernels_of_the_sizes_differ_in_retpoline_alone():
    kernels = {kernel.name: kernel for kernel in vl.kernels()}
    on, off = (kernels[name] for name in sizes.KERNELS.values())
    differ = {f for f in on.__slots__ if getattr(on, f) != getattr(off, f)}
    assert differ == {"name", "doc", "retpoline"}
    assert on.retpoline


def test_buffers_are_as_long_as_those_of_the_engine():
    text = (ROOT / "core/backend/net/xdp_buffer.h").read_text()
    constants = dict(re.findall(r"constexpr std::uint32_t (k\w+) = (\d+);", text))
    expected = ("kCacheLineBytes", "kXdpPadBytes", "kXdpHeadroomBytes", "kSharedInfoBytes")
    assert [int(constants[name]) for name in expected] == [
        caches.LINE_BYTES,
        caches.PAD_BYTES,
        caches.HEADROOM_BYTES,
        caches.SHARED_INFO_BYTES,
    ]
    assert caches.SINK.program
    assert caches.buffer_bytes(64) == 64 + 256 + 64 + 320
    assert caches.buffer_bytes(65) == 64 + 256 + 128 + 320


def test_no_batch_is_larger_than_a_run_of_the_kernel():
    fit = committed_fit(points_of())
    batches = (SWEEP.weight_packets, 2 * SWEEP.weight_packets)
    whole, double = vl.run_many(fit.apply(SWEEP.replace(batch=batch)) for batch in batches)
    assert whole.elapsed_ps == double.elapsed_ps


def test_report_names_what_is_missed(rows):
    text = (RESULTS / "report.md").read_text(encoding="utf-8")
    published = {row.id: row for row in load_published()}
    packets = [row for row in rows if not row["id"].startswith(netperf.ROWS)]
    misses = [row["id"] for row in packets if is_miss(as_row(published[row["id"]], row))]
    assert re.findall(r"^- (\S+), ", text, re.MULTILINE) == misses
    for name in EXPLORATIONS:
        assert f"({name}.png)" in text
    assert text.count("Simulated, ") == len(EXPLORATIONS)


def as_row(published, row):
    return Row(published, *(float(row[name]) for name in ("predicted", "low", "high")), None)


@pytest.fixture(scope="module")
def few_cells():
    """Those that stand for the regimes, with one draw."""
    return netperf.cells(committed_fit(points_of()), tables.SHOWN, draws=1)


def test_every_published_stream_has_a_cell():
    named = {row.id for row in load_published() if row.id.startswith(netperf.ROWS)}
    metrics = ("throughput", "normalized")
    assert named == {f"netperf.{m}.{n}.{metric}" for m, n in netperf.KEYS for metric in metrics}


def test_a_row_of_a_stream_is_answered_by_its_cell(few_cells):
    published = {row.id: row for row in load_published()}
    cell = few_cells[512, 8]
    throughput, per_cpu = (
        netperf.gain_of(published[f"netperf.512.8.{metric}"], few_cells)
        for metric in ("throughput", "normalized")
    )
    assert (throughput, per_cpu) == (cell.throughput, cell.per_cpu)
    assert throughput != per_cpu
    (answer,) = netperf.answers(published.values(), {(512, 8): cell})
    assert (answer.throughput, answer.per_cpu) == (45, 41)
    assert answer.right


def test_regimes_are_what_they_stand_for(few_cells):
    guest, vhost, alone = (few_cells[key] for key in tables.SHOWN)
    assert [c.regime for c in (guest, vhost, alone)] == ["guest", "vhost", "not batched"]
    assert guest.busy("worker") < 0.5
    assert vhost.after.packets > 30 * vhost.after.batches
    assert (guest.after.alone, vhost.after.alone) == (0, 0)
    assert guest.writers == 1
    assert 0.95 < guest.writing < guest.busy("guest")
    assert vhost.writers == netperf.STREAM.vcpus < vhost.sessions


def test_ledgers_of_the_regimes_add_up(few_cells):
    sums = {}
    for row in read_table(RESULTS / "regimes.csv").rows:
        key = (int(row["message_bytes"]), int(row["sessions"]))
        assert row["regime"] == few_cells[key].regime
        before, after = sums.get((key, row["core"]), (0, 0))
        times = (before + float(row["before_ns"]), after + float(row["after_ns"]))
        sums[key, row["core"]] = times
    assert set(sums) == {(key, core) for key in tables.SHOWN for core in tables.CORES}
    for (key, core), times in sums.items():
        runs = (few_cells[key].before, few_cells[key].after)
        busy = [run.busy_ns_per_packet(core) for run in runs]
        assert times == pytest.approx(busy, rel=1e-5)


@pytest.mark.parametrize(
    ("published", "predicted", "expected"),
    [
        (0, 5, True),
        (0, 5.1, False),
        (3, -2, True),
        (-3, 2.1, False),
        (3.1, 0.1, True),
        (3.1, 0, False),
        (-11, -0.1, True),
        (36, -1, False),
    ],
)
def test_right_is_the_sign_or_near_nothing(published, predicted, expected):
    assert netperf.right(published, predicted) is expected


def test_rank_correlation_is_spearmans():
    assert netperf.rank_correlation([1, 2, 3], [10, 200, 3000]) == pytest.approx(1)
    assert netperf.rank_correlation([1, 2, 3], [3, 2, 1]) == pytest.approx(-1)
    # Ranks 1.5, 1.5, 3, 4 against 1, 2, 3, 4: covariance 4.5, squares 4.5 and 5.
    assert netperf.rank_correlation([0, 0, 5, 7], [1, 2, 3, 4]) == pytest.approx(0.9**0.5)


def test_scores_of_the_default_send_buffer_are_those_of_the_cells():
    cells = read_table(RESULTS / "netperf.csv")
    assert cells.columns == tables.CELLS
    assert len(cells.rows) == len(netperf.KEYS)
    published, predicted = (cells.numbers(f"{n}_percent") for n in ("published", "predicted"))
    scored = tables.score(netperf.STREAM.send_buffer_bytes, list(published), list(predicted))
    assert scored.right == [row["right"] for row in cells.rows].count("yes")
    found = {
        int(row["send_buffer_bytes"]): row for row in read_table(RESULTS / "send_buffers.csv").rows
    }
    assert set(found) == set(netperf.SEND_BUFFERS)
    row = found[netperf.STREAM.send_buffer_bytes]
    assert (int(row["right"]), int(row["of"])) == (scored.right, scored.of)
    assert float(row["rank_correlation"]) == pytest.approx(scored.rank_correlation, rel=1e-5)


def test_report_names_each_cell_that_is_not_right():
    text = (RESULTS / "report.md").read_text(encoding="utf-8")
    named = re.findall(r"^- (\d+) bytes, (\d+) sessions? ", text, re.MULTILINE)
    cells = read_table(RESULTS / "netperf.csv").rows
    wrong = [(c["message_bytes"], c["sessions"]) for c in cells if c["right"] == "no"]
    assert named == wrong
    assert f"{len(cells) - len(wrong)} are right" in text


def test_manifest_and_figures_are_there():
    manifest = json.loads((RESULTS / "manifest.json").read_text())
    assert manifest["version"] == vl.version
    streams = {"netperf", "regimes", "send_buffers"}
    names = {"table", "sweep", "fit_a_b", "waterfall", *streams, *EXPLORATIONS}
    assert set(manifest["data"]) == {f"{name}.csv" for name in names} | {"report.md"}
    for name in ("sweep", "waterfall", "netperf", *EXPLORATIONS):
        assert (RESULTS / f"{name}.png").read_bytes().startswith(b"\x89PNG")
        assert "<svg" in (RESULTS / f"{name}.svg").read_text()


def test_streams_have_the_noise_of_throughput_and_of_cpu_use():
    asked = netperf.STREAM.replace(stream_ms=0.2)
    runs = [vl.run(asked)] * 1001
    stream = netperf.Stream.of(asked, runs)
    other = netperf.Stream.of(asked.replace(tx_batching=False), runs)
    assert stream.throughput[0] == other.throughput[0] == runs[0].throughput_gbps
    sigma = netperf.SIGMA
    for values, expected in ((stream.throughput, sigma), (stream.per_cpu, sigma * 2**0.5)):
        assert np.std(np.log(values[1:])) == pytest.approx(expected, rel=0.1)
    both = np.array(stream.throughput) / np.array(other.throughput)
    assert np.std(np.log(both[1:])) == pytest.approx(sigma * 2**0.5, rel=0.1)
