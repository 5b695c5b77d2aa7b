"""compare: the difference of two runs, by step and cost, adds up exactly."""

import pickle
from fractions import Fraction
from typing import Any

import pytest
import vringlab as vl


@pytest.fixture(scope="module")
def pair() -> tuple[vl.Result, vl.Result]:
    user, vmap = vl.run_many(
        [vl.Scenario(packets=1999), vl.Scenario(packets=3001, plan=vl.AccessPlan.vmap())]
    )
    return user, vmap


@pytest.mark.parametrize("core", ["guest", "worker", "control"])
def test_rows_add_up_exactly(pair: tuple[vl.Result, vl.Result], core: str) -> None:
    a, b = pair
    comparison = vl.compare(a, b, core=core)
    expected = Fraction(b.core(core).busy_ps, 3001) - Fraction(a.core(core).busy_ps, 1999)
    assert comparison.delta_ps == expected
    assert sum(row.delta_ps for row in comparison.rows) == expected
    assert comparison.residual_ps == 0
    for axis in ("step", "cost"):
        assert sum(comparison.by(axis).values()) == pytest.approx(comparison.delta_ns)


def test_a_ledger_that_does_not_add_up_is_seen(pair: tuple[vl.Result, vl.Result]) -> None:
    a, b = pair
    comparison = vl.compare(a, b)
    broken = vl.Comparison(a, b, "worker", comparison.rows[1:])
    assert broken.residual_ps == comparison.rows[0].delta_ps != 0


def test_sorted_savings_first(pair: tuple[vl.Result, vl.Result]) -> None:
    comparison = vl.compare(*pair)
    deltas = [row.delta_ps for row in comparison.rows]
    assert deltas == sorted(deltas)
    assert list(comparison.by("step").values()) == sorted(comparison.by("step").values())
    assert deltas[0] < 0 < comparison.gain_percent
    assert comparison.gain_percent == pytest.approx(100 * (pair[1].rate_pps / pair[0].rate_pps - 1))


def test_the_other_way_round_is_the_opposite(pair: tuple[vl.Result, vl.Result]) -> None:
    there, back = vl.compare(*pair), vl.compare(*pair[::-1])
    assert back.delta_ps == -there.delta_ps
    changes = {(row.step, row.cost): row.delta_ps for row in there.rows}
    assert {(row.step, row.cost): -row.delta_ps for row in back.rows} == changes


def test_a_run_against_itself(pair: tuple[vl.Result, vl.Result]) -> None:
    comparison = vl.compare(pair[0], pair[0])
    assert {row.delta_ps for row in comparison.rows} == {0}
    assert comparison.gain_percent == 0


def test_shown(pair: tuple[vl.Result, vl.Result]) -> None:
    comparison = vl.compare(*pair)
    assert repr(comparison).startswith("Comparison(simulated ")
    assert repr(comparison.rows[0]).startswith(f"Difference({comparison.rows[0].step}, ")
    lines = comparison.summary(most=3).splitlines()
    assert lines[0].startswith("simulated ")
    assert lines[-1] == "residual: 0 ps"
    assert len(lines) == 10
    assert f"{len(comparison.rows) - 3} more" in lines[-3]
    shown = [float(line.split()[-1]) for line in lines[4:8]]
    assert sum(shown) == pytest.approx(comparison.delta_ns, abs=0.01)


def test_equal_after_a_pickle(pair: tuple[vl.Result, vl.Result]) -> None:
    comparison = vl.compare(*pair)
    again = pickle.loads(pickle.dumps(comparison))
    assert (again, hash(again)) == (comparison, hash(comparison))


def test_bad_arguments(pair: tuple[vl.Result, vl.Result]) -> None:
    wrong: Any
    for wrong in (None, vl.Scenario(), pair):
        with pytest.raises(TypeError, match=r"^b must be a Result, not "):
            vl.compare(pair[0], wrong)
    with pytest.raises(ValueError, match='core = "gpu": must be one of guest, worker, control'):
        vl.compare(*pair, core="gpu")
    with pytest.raises(ValueError, match='axis = "core": must be one of step, cost'):
        vl.compare(*pair).by("core")
