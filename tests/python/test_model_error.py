"""The model's own error: estimated from rates that may be fitted, and what it does to intervals."""

import csv
import math
from pathlib import Path

import numpy as np
import pytest
from vringlab.model_error import MODEL_SIGMA, model_sigma, widened
from vringlab.published import load_published

LEFT_OUT = Path(__file__).parents[2] / "results" / "calibration" / "leave_one_out.csv"


def left_out():
    with LEFT_OUT.open() as file:
        return list(csv.DictReader(file))


def test_it_is_what_the_left_out_rates_say():
    rates = [tuple(float(row[c]) for c in ("published", "low", "high")) for row in left_out()]
    assert float(f"{model_sigma(rates):.2g}") == MODEL_SIGMA


def test_no_row_to_predict_has_a_part_in_it():
    predicted = {row.id for row in load_published() if row.use == "predict"}
    assert predicted
    assert not predicted & {row["id"] for row in left_out()}


@pytest.mark.parametrize("own", [0.02, 0.1])
@pytest.mark.parametrize("besides", [0.05, 0.3])
def test_it_finds_the_error_that_was_made(own, besides):
    draws = np.random.default_rng(7).normal(0, math.hypot(own, besides), 4000)
    low, high = math.exp(-1.6448536 * own), math.exp(1.6448536 * own)
    found = model_sigma((math.exp(e), low, high) for e in draws)
    assert found == pytest.approx(besides, rel=0.1)


def test_wide_intervals_need_none():
    assert model_sigma([(1.0, 0.5, 2.0), (1.2, 0.5, 2.0)]) == 0


@pytest.mark.parametrize(
    "rates", [[], [(0.0, 1.0, 2.0)], [(1.0, 2.0, 2.0)], [(1.0, -1.0, 2.0)], [(math.nan, 1.0, 2.0)]]
)
def test_what_is_no_interval_is_refused(rates):
    with pytest.raises(ValueError, match=r"rates: must be some"), np.errstate(all="ignore"):
        model_sigma(rates)


def test_widening_is_in_quadrature_on_each_side():
    low, high = widened(math.exp(-0.3), 1.0, math.exp(0.4), 0.3 / 1.6448536269514722)
    assert low == pytest.approx(math.exp(-0.3 * math.sqrt(2)))
    assert high == pytest.approx(math.exp(0.5))
    assert widened(2.0, 3.0, 4.0, 0.0) == pytest.approx((2, 4))
    # A prediction outside its own interval does not narrow it.
    assert widened(2.0, 1.0, 4.0, 0.1)[0] < 1.0
    assert widened(0.0, 1.0, 4.0, 0.1) == (0.0, 4.0)
