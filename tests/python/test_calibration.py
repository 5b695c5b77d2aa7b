"""Calibration: it finds the truth that made the data, and reads its JSON defensively."""

import json
import pickle
import threading
import time
from itertools import pairwise

import numpy as np
import pytest
import vringlab as vl

BASE = vl.Scenario(packets=2000)
TRUTH = {"stac_clac_pair.intel": 24.0, "unmodelled.vhost_net_tx": 40.0}
SCENARIOS = {
    "user": BASE,
    "mapped": BASE.replace(plan=vl.AccessPlan.vmap()),
    "nosmap": BASE.replace(kernel="v5.0-nosmap"),
}


def points(sigma=0.005, **changes):
    rates = {
        name: vl.run(scenario.replace(costs=TRUTH)).rate_pps for name, scenario in SCENARIOS.items()
    }
    return [
        vl.Point(id=name, scenario=SCENARIOS[name], rate_pps=rate, relative_sigma=sigma)
        for name, rate in (rates | changes).items()
    ]


def tight_priors():
    """Next to nothing is free but the rows of TRUTH."""
    return [
        vl.CostPrior(row.name, row.best / 1.001, row.best, row.best * 1.001)
        for row in vl.cost_rows()
        if row.low < row.high and row.name not in TRUTH
    ]


@pytest.fixture(scope="module")
def fit():
    return vl.calibrate(points(), draws=20)


def free_names(calibration):
    return set(calibration.names)


def test_recovers_what_made_the_data(fit):
    tight = [prior for prior in tight_priors() if prior.name in free_names(fit)]
    narrow = vl.calibrate(points(), priors=tight, draws=0)
    values = dict(zip(narrow.names, narrow.values, strict=True))
    assert values["stac_clac_pair.intel"] == pytest.approx(24, rel=0.02)
    assert values["unmodelled.vhost_net_tx@broadwell-2.6"] == pytest.approx(40, rel=0.02)
    for point in narrow.points:
        assert point.predicted_pps == pytest.approx(point.rate_pps, rel=0.002)
    assert narrow.shrinkage["stac_clac_pair.intel"] < 0.2


def test_agrees_with_the_data_though_much_is_free(fit):
    assert all(abs(point.residual) < 1.5 for point in fit.points)
    assert set(fit.unresolved().parameters) < set(fit.names)
    assert "stac_clac_pair.intel" not in fit.unresolved().parameters
    assert all(abs(c) > 0.5 and a != b for a, b, c in fit.unresolved().pairs)


def test_shapes(fit):
    n = len(fit.names)
    assert fit.correlation.shape == (n, n)
    assert np.allclose(np.diag(fit.correlation), 1)
    assert np.allclose(fit.correlation, fit.correlation.T)
    assert fit.draws().shape == (20, n)
    assert fit.draws(7).shape == (7, n)
    assert (fit.draws() > 0).all()
    low, high = fit.posterior_range("stac_clac_pair.intel")
    assert low < fit.values[fit.names.index("stac_clac_pair.intel")] < high
    for name in (*fit.names, *(p.id for p in fit.points)):
        assert name in fit.summary()


@pytest.mark.parametrize("count", [-1, 21])
def test_no_more_draws_than_were_made(fit, count):
    with pytest.raises(ValueError, match=r"count = .*between 0 and 20"):
        fit.draws(count)


def test_apply_honours_hosts_and_explicit_rows(fit):
    here, elsewhere = fit.apply(BASE), fit.apply(BASE.replace(host="icelake-2.9"))
    value = fit.values[fit.names.index("unmodelled.vhost_net_tx@broadwell-2.6")]
    assert here.costs["unmodelled.vhost_net_tx"] == value
    assert "unmodelled.vhost_net_tx" not in elsewhere.costs
    assert elsewhere.costs["access_ok"] == here.costs["access_ok"]
    assert fit.apply(BASE.replace(costs={"access_ok": 1})).costs["access_ok"] == 1
    assert fit.apply(here) == here


def test_apply_keeps_fractions_below_one(fit):
    fields = {name: getattr(fit, name) for name in fit.__slots__}
    values = tuple(
        1.7 if name == "ooo_overlap" else v for name, v in zip(fit.names, fit.values, strict=True)
    )
    beyond = vl.Calibration(**(fields | {"values": values}))
    assert beyond.apply(BASE).costs["ooo_overlap"] == 1


def test_json_and_pickle_round_trip(fit):
    assert vl.Calibration.from_json(fit.to_json()) == fit
    assert vl.Calibration.from_json(fit.to_json()).to_json() == fit.to_json()
    for value in (fit, fit.points[0], points()[0], fit.unresolved()):
        assert pickle.loads(pickle.dumps(value)) == value
    assert fit.version == vl.version


def test_hash_sees_ids_rates_sigmas_and_scenarios(fit):
    assert fit.saw(points())
    assert not fit.saw(points()[:2])
    assert not fit.saw(points(user=5e6))
    assert not fit.saw(points(sigma=0.002))
    other = points()
    other[0] = vl.Point(
        id="user", scenario=BASE.replace(batch=1), rate_pps=other[0].rate_pps, relative_sigma=0.005
    )
    assert not fit.saw(other)


def hostile(document):
    """What may have happened to a file: a change, and what the message must say."""
    p, c = document["parameters"][0], document["log_covariance"]
    yield [], "must be an object"
    yield document | {"more": 1}, "must be an object of version"
    yield {k: v for k, v in document.items() if k != "points"}, "must be an object of version"
    yield document | {"version": 1}, "version: must be text"
    yield document | {"data_sha256": "00"}, "64 hexadecimal digits"
    yield document | {"tolerance": -1}, "tolerance = -1.0: must be positive"
    yield document | {"points": {}}, "points: must be a list"
    yield document | {"points": [{"id": "a"}]}, r"points\[0\]: must be an object of id"
    yield document | {"parameters": []}, "values: 0 for 0 priors"
    for field, value, message in (
        ("name", "no_such_row", "there is no such cost row"),
        ("name", "access_ok@nowhere", "there is no such host"),
        ("name", "x" * 1000, "at most 200 characters"),
        ("name", None, "must be text"),
        ("low", 0, "must be positive"),
        ("low", "1", "must be a number"),
        ("high", p["low"], "low must be below high"),
        ("best", p["high"] * 2, "must be at most"),
        ("value", True, "must be a number"),
        ("value", -1, "must be positive"),
        ("value", 10**400, "must be finite"),
        ("value", [[]], "must be a number"),
    ):
        yield document | {"parameters": [p | {field: value}]}, message
    yield document | {"parameters": document["parameters"][:-1]}, "must be .* rows"
    twice = [document["parameters"][0], *document["parameters"][:-1]]
    yield document | {"parameters": twice}, "a name comes twice"
    yield document | {"log_covariance": c[:-1]}, "must be .* rows of 1, 2"
    yield document | {"log_covariance": [c[1], *c[1:]]}, "must be .* rows of 1, 2"
    yield document | {"log_covariance": [[-1], *c[1:]]}, "positive definite"
    yield document | {"log_covariance": [["x"], *c[1:]]}, r"log_covariance\[0\]\[0\]"
    yield document | {"sample": [[1.0]]}, "sample: each row"
    yield document | {"sample": [[-1.0] * len(c)]}, r"sample\[0\]\[0\]"


def test_refuses_hostile_json(fit):
    for changed, message in hostile(json.loads(fit.to_json())):
        with pytest.raises(ValueError, match=message):
            vl.Calibration.from_json(json.dumps(changed))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "Expecting value"),
        ("{", "Expecting property name"),
        ("[" * 100_000, "nested too deeply"),
        ('{"version": NaN}', "NaN is not a number"),
        ('{"version": -Infinity}', "-Infinity is not a number"),
        ('{"version": 1, "version": 2}', "comes twice"),
        ('{"version": ' + "1" * 5000 + "}", "calibration: "),
        (" " * (10**7 + 1), "more than 10000000 characters"),
        ('"\\ud800"', "must be an object"),
    ],
    ids=range(9),
)
def test_refuses_what_is_no_json_of_ours(text, message):
    with pytest.raises(ValueError, match=message):
        vl.Calibration.from_json(text)


def test_refuses_truncated_json(fit):
    text = fit.to_json().rstrip()
    for length in range(0, len(text), 997):
        with pytest.raises(ValueError, match="calibration: "):
            vl.Calibration.from_json(text[:length])
    with pytest.raises(TypeError, match="must be a str"):
        vl.Calibration.from_json(text.encode())


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"id": ""}, ValueError, "id"),
        ({"id": 3}, TypeError, "id must be a str"),
        ({"scenario": None}, TypeError, "must be a Scenario"),
        ({"rate_pps": 0}, ValueError, "rate_pps = 0.0: must be positive"),
        ({"rate_pps": float("nan")}, ValueError, "rate_pps = nan"),
        ({"rate_pps": 10**400}, ValueError, "rate_pps = inf"),
        ({"relative_sigma": -1}, ValueError, "relative_sigma"),
        ({"relative_sigma": "x"}, TypeError, "relative_sigma must be a number"),
    ],
)
def test_refuses_bad_points(changes, error, message):
    good = {"id": "a", "scenario": BASE, "rate_pps": 5e6, "relative_sigma": 0.02}
    with pytest.raises(error, match=message):
        vl.Point(**(good | changes))


def test_refuses_bad_arguments():
    one = points()[:1]
    with pytest.raises(ValueError, match="at least one"):
        vl.calibrate([])
    with pytest.raises(ValueError, match="an id comes twice"):
        vl.calibrate(one * 2)
    with pytest.raises(TypeError, match=r"points\[0\] must be a Point"):
        vl.calibrate([BASE])
    with pytest.raises(TypeError, match=r"priors\[0\] must be a CostPrior"):
        vl.calibrate(one, priors=["access_ok"])
    with pytest.raises(ValueError, match="set it in costs"):
        vl.calibrate(one, priors=[vl.CostPrior("access_ok", 2, 2, 2)])
    with pytest.raises(ValueError, match="comes twice"):
        vl.calibrate(one, priors=[vl.CostPrior("access_ok", 1, 2, 3)] * 2)
    with pytest.raises(ValueError, match="no rate depends on vmap_page, only on"):
        vl.calibrate(one, priors=[vl.CostPrior("vmap_page", 1, 2, 3)])
    with pytest.raises(ValueError, match="draws: must be between"):
        vl.calibrate(one, draws=-1)
    with pytest.raises(ValueError, match="seed: must be between"):
        vl.calibrate(one, seed=-1)


def test_other_threads_go_on_meanwhile():
    ticks = []
    done = threading.Event()

    def tick():
        while not done.is_set():
            ticks.append(time.monotonic())
            time.sleep(0.005)

    thread = threading.Thread(target=tick)
    thread.start()
    reports = []
    vl.calibrate(points()[:1], draws=0, progress=lambda n, total: reports.append((n, total)))
    done.set()
    thread.join()
    assert len(ticks) > 3
    assert reports[-1][0] == reports[-1][1]
    assert all(a <= b for (a, _), (b, _) in pairwise(reports))


def test_can_be_interrupted():
    slow = [
        vl.Point(id="a", scenario=vl.Scenario(packets=10**9), rate_pps=5e6, relative_sigma=0.02)
    ]

    def interrupt(done, total):
        raise KeyboardInterrupt

    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        vl.calibrate(slow, progress=interrupt)
    assert time.monotonic() - start < 20
