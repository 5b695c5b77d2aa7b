"""Calibration to several sources at once, whose hosts share what no row explains."""

import math
import pickle
from pathlib import Path

import pytest
import vringlab as vl
from typer.testing import CliRunner
from vringlab.calibration import NORMAL_95, with_parameters
from vringlab.cli import app
from vringlab.experiments.calibration.base import joint_points, sources
from vringlab.experiments.calibration.fit import committed_fit, committed_without
from vringlab.published import load_published
from vringlab.results import read_table

RESULTS = Path(__file__).parents[2] / "results" / "calibration"
ROW = "unmodelled.vhost_net_tx"
HOSTS = ("broadwell-2.6", "icelake-2.9")
BASE = vl.Scenario(packets=1000)
TIGHT = [
    vl.CostPrior(row.name, row.best / 1.0001, row.best, row.best * 1.0001)
    for row in vl.cost_rows()
    if 0 < row.low < row.high and not row.name.startswith("unmodelled.")
]


def points(*values):
    """Rates of hosts on which the row is so much."""
    return [
        vl.Point(
            id=host,
            scenario=BASE.replace(host=host),
            rate_pps=vl.run(BASE.replace(host=host, costs={ROW: value})).rate_pps,
            relative_sigma=0.001,
        )
        for host, value in zip(HOSTS, values, strict=True)
    ]


def fitted(data, between_hosts):
    free = vl.calibrate(data, draws=0, between_hosts=between_hosts).names
    priors = [prior for prior in TIGHT if prior.name in free]
    return vl.calibrate(data, priors=priors, draws=40, between_hosts=between_hosts)


@pytest.fixture(scope="module")
def fit():
    return fitted(points(40, 60), vl.BETWEEN_HOSTS)


def test_a_factor_multiplies_what_hosts_share():
    names, values = (ROW, f"{ROW}*{HOSTS[0]}"), (20.0, 1.5)
    assert with_parameters(BASE, names, values).costs[ROW] == 30
    assert with_parameters(BASE.replace(host=HOSTS[1]), names, values).costs[ROW] == 20
    explicit = BASE.replace(costs={ROW: 7})
    assert with_parameters(explicit, names, values).costs[ROW] == 7


def test_a_factor_alone_is_of_the_row_as_the_table_has_it():
    best = next(row.best for row in vl.cost_rows() if row.name == ROW)
    assert with_parameters(BASE, [f"{ROW}*{HOSTS[0]}"], [2.0]).costs[ROW] == 2 * best


def test_the_prior_of_a_host_stays_that_of_the_row(fit):
    priors = {prior.name: prior for prior in fit.priors}
    row = next(row for row in vl.cost_rows() if row.name == ROW)
    shared, factor = (
        math.log(priors[name].high / priors[name].low) for name in (ROW, f"{ROW}*{HOSTS[0]}")
    )
    assert math.hypot(shared, factor) == pytest.approx(math.log(row.high / row.low))
    assert factor == pytest.approx(2 * math.log(vl.BETWEEN_HOSTS))


def test_hosts_come_out_as_they_are_and_around_what_they_share(fit):
    applied = [fit.apply(point.scenario).costs[ROW] for point in points(40, 60)]
    assert applied == [pytest.approx(40, rel=0.03), pytest.approx(60, rel=0.03)]
    assert 40 < fit.values[fit.names.index(ROW)] < 60


def test_a_host_that_was_not_fitted_learns_from_those_that_were(fit):
    other = BASE.replace(host="skylake-8163-2.5")
    shared = fit.values[fit.names.index(ROW)]
    assert fit.apply(other).costs[ROW] == shared
    alone = fitted(points(40, 60), None)
    spread = {}
    for name, calibration in (("shared", fit), ("alone", alone)):
        [(_, *drawn)] = vl.sample([other], calibration)
        logs = [math.log(result.scenario.costs[ROW]) for result in drawn]
        mean = sum(logs) / len(logs)
        spread[name] = math.sqrt(sum((x - mean) ** 2 for x in logs) / len(logs))
    assert math.log(vl.BETWEEN_HOSTS) / NORMAL_95 / 2 < spread["shared"] < spread["alone"] / 1.5


@pytest.mark.parametrize("between", [1, 10, math.nan, math.inf])
def test_between_hosts_has_bounds(between):
    with pytest.raises(ValueError, match=r"between_hosts = .*above 1 and below 10"):
        vl.calibrate(points(10, 10), between_hosts=between)


def test_leaving_out_is_fitting_the_rest():
    data = points(40, 60)
    joint = vl.calibrate_jointly(
        data, {HOSTS[0]: "a", HOSTS[1]: "b"}, draws=0, draws_without=3, seed=2
    )
    without = dict(joint.without)
    assert list(without) == ["a", "b"]
    assert without["a"].saw(data[1:])
    assert not without["a"].saw(data)
    again = vl.calibrate(data[1:], between_hosts=vl.BETWEEN_HOSTS, draws=0)
    values = dict(zip(without["a"].names, without["a"].values, strict=True))
    sigmas = dict(zip(again.names, again.posterior_sigma, strict=True))
    for name, value in zip(again.names, again.values, strict=True):
        assert abs(math.log(values[name] / value)) < 0.2 * sigmas[name]
    [point], [same] = without["a"].points, again.points
    assert point.predicted_pps == pytest.approx(same.predicted_pps, rel=0.001)
    assert len(without["a"].draws()) == 3
    assert pickle.loads(pickle.dumps(joint)) == joint


def test_sources_must_be_known_and_more_than_one():
    data = points(10, 10)
    with pytest.raises(ValueError, match=r"sources: nothing for icelake-2\.9"):
        vl.calibrate_jointly(data, {HOSTS[0]: "a"})
    with pytest.raises(ValueError, match=r"sources: there must be at least two"):
        vl.calibrate_jointly(data, dict.fromkeys(HOSTS, "a"))


# --- the committed fit ----------------------------------------------------------------------------


def test_rows_to_predict_are_not_seen(other_predicted):
    changed = joint_points(load_published(other_predicted))
    assert changed == joint_points(load_published())
    used = {row.id for row in load_published() if row.use == "calibrate"}
    assert used < {point.id for point in changed}


def test_each_source_is_left_out_once():
    rows = load_published()
    data, owners = joint_points(rows), sources(rows)
    found = committed_without(data, owners)
    assert set(found) == {row.source for row in rows if row.use == "calibrate"}
    ids = [point.id for own, _ in found.values() for point in own]
    assert sorted(ids) == sorted(point.id for point in data)
    for own, fit in found.values():
        assert not {point.id for point in own} & {point.id for point in fit.points}


def test_the_simulator_is_the_one_that_was_fitted():
    data = joint_points(load_published())
    fit = committed_fit(data)
    results = vl.run_many([fit.apply(point.scenario) for point in data], progress=False)
    rates = [
        r.guest_system_rate if p.guest_system else r.rate_pps
        for p, r in zip(data, results, strict=True)
    ]
    assert [float(f"{rate:.6g}") for rate in rates] == [p.predicted_pps for p in fit.points]


def test_a_changed_row_is_noticed(rewritten):
    def change(row):
        return row | {"value": "5.1"} if row["id"] == "vmap.before" else row

    with pytest.raises(ValueError, match=r"calibration/fit\.json: fitted to other data"):
        committed_fit(joint_points(load_published(rewritten(change))))


def test_tables_are_of_the_committed_fit():
    fit = committed_fit(joint_points(load_published()))
    rows = read_table(RESULTS / "posterior.csv").rows
    assert [row["parameter"] for row in rows] == list(fit.names)
    left_out = read_table(RESULTS / "leave_one_out.csv").rows
    assert {row["id"] for row in left_out} == {point.id for point in fit.points}


def test_command_knows_the_sources():
    done = CliRunner().invoke(app, ["calibrate", "--leave-out", "nobody"])
    assert isinstance(done.exception, ValueError)
    assert 'leave-out = "nobody": must be one of vmap-2018, ' in str(done.exception)


def test_command_fits_the_rest_and_predicts_what_is_left_out(monkeypatch, tmp_path):
    data = points(40, 60)
    base = "vringlab.experiments.calibration.base"
    monkeypatch.setattr(f"{base}.joint_points", lambda rows: data)
    monkeypatch.setattr(f"{base}.sources", lambda rows: dict(zip(HOSTS, "ab", strict=True)))
    out = tmp_path / "fit.json"
    done = CliRunner().invoke(
        app, ["calibrate", "--leave-out", "a", "--draws", "2", "--out", str(out)]
    )
    assert done.exit_code == 0, done.exception
    assert f"left out: {HOSTS[0]}: " in done.output
    assert vl.Calibration.from_json(out.read_text()).saw(data[1:])
