"""Prediction: intervals from the posterior, the same however they are computed."""

import pickle

import pytest
import vringlab as vl

BASE = vl.Scenario(packets=2000)
MAPPED = BASE.replace(plan=vl.AccessPlan.vmap())
ABROAD = BASE.replace(host="icelake-2.9")


@pytest.fixture(scope="module")
def fit():
    point = vl.Point(id="a", scenario=BASE, rate_pps=5e6, relative_sigma=0.02)
    return vl.calibrate([point], draws=100)


@pytest.fixture(scope="module")
def predicted(fit):
    return vl.predict([BASE, MAPPED, ABROAD], fit, draws=100)


def spread(prediction):
    return (prediction.high_pps - prediction.low_pps) / prediction.rate_pps


def test_intervals_contain_the_value(predicted):
    for prediction in predicted:
        assert prediction.low_pps < prediction.rate_pps < prediction.high_pps
        assert prediction.level == 0.9
        assert len(prediction.sampled_pps) == 100
        assert prediction.result.rate_pps == pytest.approx(prediction.rate_pps, rel=1e-5)


def test_the_calibrated_rate_is_known_best(predicted):
    base, mapped, abroad = predicted
    assert base.low_pps < 5e6 < base.high_pps
    # Two measurements of 2 % at 90 %, the calibrated one and the one to come.
    assert spread(base) == pytest.approx(2 * 1.645 * 0.02 * 2**0.5, rel=0.3)
    assert spread(base) < spread(mapped) < spread(abroad)


def test_rows_that_were_not_fitted_are_drawn_from_their_priors(fit):
    assert "rcu_read_section" not in fit.names
    fixed = MAPPED.replace(costs={"rcu_read_section": 2})
    free, known = vl.predict([MAPPED, fixed], fit, draws=100, measurement_sigma=0)
    assert free.rate_pps == known.rate_pps
    assert free.sampled_pps != known.sampled_pps


def test_does_not_depend_on_workers_or_company(fit, predicted):
    assert vl.predict([BASE, MAPPED, ABROAD], fit, draws=100, workers=1) == predicted
    assert vl.predict([MAPPED], fit, draws=100, workers=3) == predicted[1:2]
    assert vl.predict([MAPPED], fit, draws=100, seed=2) != predicted[1:2]
    assert vl.predict([], fit) == ()


def test_gain_is_that_of_pairs(predicted):
    base, mapped, _ = predicted
    gain = mapped.gain_over(base)
    assert gain.low < gain.percent < gain.high
    assert gain.percent == pytest.approx(100 * (mapped.rate_pps / base.rate_pps - 1), rel=1e-3)
    assert base.gain_over(base).percent == 0
    with pytest.raises(ValueError, match="same call"):
        base.gain_over(vl.predict([BASE], vl_fit(base), draws=1)[0])


def vl_fit(prediction):
    point = vl.Point(
        id="a", scenario=prediction.scenario, rate_pps=prediction.rate_pps, relative_sigma=0.02
    )
    return vl.calibrate([point], draws=1)


def test_pickles_and_prints(predicted):
    assert pickle.loads(pickle.dumps(predicted)) == predicted
    assert repr(predicted[0]).startswith("Prediction(simulated ")


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"calibration": None}, TypeError, "must be a Calibration"),
        ({"draws": 0}, ValueError, "draws: must be at least 1"),
        ({"draws": 101}, ValueError, "between 0 and 100"),
        ({"draws": 1.0}, TypeError, "must be an int"),
        ({"seed": 2**64}, ValueError, "seed"),
        ({"measurement_sigma": -0.1}, ValueError, "measurement_sigma = -0.1"),
        ({"measurement_sigma": float("nan")}, ValueError, "measurement_sigma = nan"),
        ({"level": 1}, ValueError, "level = 1.0"),
        ({"workers": 0}, ValueError, "workers = 0"),
        ({"scenarios": [3]}, TypeError, r"scenarios\[0\] must be a Scenario"),
    ],
)
def test_refuses_bad_arguments(fit, changes, error, message):
    good = {"scenarios": [BASE], "calibration": fit, "draws": 2}
    with pytest.raises(error, match=message):
        vl.predict(**(good | changes))
