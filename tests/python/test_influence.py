"""Sensitivity: the indices of a result whose indices are known, and the row to measure next."""

import math
import pickle

import numpy as np
import pytest
import vringlab as vl
from typer.testing import CliRunner
from vringlab.cli import app
from vringlab.influence import METRICS

BASE = vl.Scenario(packets=200)
A, B, C = "access_ok", "direct_call", "smp_mb"


def weighted(result):
    """ln is linear in normals: 4 ln A + 3 ln B, with priors of the same width."""
    costs = result.scenario.costs
    return 4 * math.log(costs.get(A, 2)) + 3 * math.log(costs.get(B, 2))


def wide(*names):
    return [vl.CostPrior(name, 1, 2, 4) for name in names]


@pytest.fixture(scope="module")
def found():
    return vl.sensitivity(BASE, costs=wide(A, B, C), metric=weighted, n=256)


def test_indices_of_a_sum_are_its_terms_shares_of_the_variance(found):
    first, second = found.rows
    assert (first.name, second.name) == (A, B)
    for row, share in ((first, 16 / 25), (second, 9 / 25)):
        assert row.first == pytest.approx(share, abs=0.05)
        assert row.total == pytest.approx(share, abs=0.05)


def test_what_moves_nothing_is_not_there(found):
    assert C not in {row.name for row in found.rows}
    assert found.mean == pytest.approx(7 * math.log(2), abs=0.05)
    sigma = math.log(4) / (2 * 1.645)
    assert found.deviation == pytest.approx(5 * sigma, rel=0.05)


def test_rows_beyond_those_kept_have_an_effect_and_no_index():
    found = vl.sensitivity(BASE, costs=wide(A, B), metric=weighted, n=16, keep=1)
    assert [(r.name, r.first, r.total) for r in found.rows][1:] == [(B, 0, 0)]
    assert found.rows[1].effect > 0
    assert "left out" in found.summary()


def test_equal_seeds_give_equal_indices_and_others_do_not():
    costs = ["stac_clac_pair.intel", "iov_iter_copy"]
    a, b, c = (vl.sensitivity(BASE, costs=costs, n=8, seed=seed) for seed in (1, 1, 2))
    assert a == b
    assert a != c
    assert pickle.loads(pickle.dumps(a)) == a


def test_a_gain_hangs_on_what_the_two_differ_in():
    nosmap = BASE.replace(kernel="v5.0-nosmap")
    costs = ["stac_clac_pair.intel", "xdp_program_noop"]
    found = vl.next_measurement(nosmap, base=BASE, costs=costs, n=16)
    assert found.name == "stac_clac_pair.intel"
    assert found.unit == "cycles"
    assert (found.low, found.high) == (10, 60)
    assert found.variance_share > 0.5
    assert found.sensitivity.mean > 0


def test_all_rows_are_tried_by_default():
    found = vl.sensitivity(BASE.replace(costs={"smp_mb": 20}), n=2, keep=1)
    names = {row.name for row in found.rows}
    assert "stac_clac_pair.intel" in names
    assert "smp_mb" not in names  # the scenario sets it


@pytest.mark.parametrize("metric", METRICS)
def test_every_named_metric_is_a_number(metric):
    assert np.isfinite(METRICS[metric](vl.run(BASE)))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"metric": "speed"}, 'metric = "speed": must be one of rate_pps'),
        ({"metric": lambda r: math.nan}, "is nan for"),
        ({"n": 12}, "n = 12: must be a power of two"),
        ({"keep": 0}, "keep = 0: must be at least 1"),
        ({"seed": 2**32}, "seed: must be below"),
        ({"costs": ["nothing"]}, 'costs: "nothing": there is no such row'),
        ({"costs": []}, "costs: must be at least one row"),
        ({"costs": [A, A]}, "each only once"),
        ({"costs": [vl.CostPrior(f"{A}@broadwell-2.6", 1, 2, 3)]}, "must be of a row"),
    ],
)
def test_bad_input_is_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        vl.sensitivity(BASE, **({"costs": [A]} | arguments))


def test_a_row_that_the_scenario_sets_is_refused():
    with pytest.raises(ValueError, match=f"the scenario sets {A} itself"):
        vl.sensitivity(BASE.replace(costs={A: 1}), costs=[A])


def test_nothing_to_measure_where_nothing_moves():
    with pytest.raises(ValueError, match="none of them moves rate_pps"):
        vl.next_measurement(BASE, costs=["disk_latency.sata_ssd_read"], n=2)


def test_command_says_what_to_measure_next():
    arguments = ["sensitivity", "--set", "packets=200", "--cost", A, "--cost", "xdp_program_noop"]
    done = CliRunner().invoke(app, [*arguments, "--n", "8"])
    assert done.exit_code == 0
    assert "measure next: xdp_program_noop (10 to 20 ns" in done.output
