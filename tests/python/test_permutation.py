"""The permutation test of wall times, on times drawn from known distributions."""

import math
import random

import pytest
from vringlab import permutation
from vringlab.permutation import paired_test


def drawn(seed: int, pairs: int, slower: float, noise: float = 0.03) -> tuple[list[float], ...]:
    """Times of two builds on a machine that becomes slower by half while it measures."""
    rng = random.Random(seed)
    drift = [1 + 0.5 * i / pairs for i in range(pairs)]
    a = [d * math.exp(rng.gauss(0, noise)) for d in drift]
    return a, [d * (1 + slower) * math.exp(rng.gauss(0, noise)) for d in drift]


def fails(seed: int, slower: float) -> bool:
    a, b = drawn(seed, 20, slower)
    return paired_test(a, b, seed=seed).slower(at_least=0.05, p_below=0.01)


@pytest.mark.parametrize("pairs", [10, 24])
def test_p_is_uniform_where_nothing_changed(pairs: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(permutation, "_DRAWS", 500)
    tests = [paired_test(*drawn(seed, pairs, 0), seed=seed) for seed in range(200)]
    for level in (0.1, 0.5, 0.9):
        share = sum(test.p <= level for test in tests) / len(tests)
        assert share == pytest.approx(level, abs=0.08)


def test_a_slower_build_fails_and_an_equal_one_does_not() -> None:
    assert all(fails(seed, slower=0.10) for seed in range(10))
    assert not any(fails(seed, slower=0.0) for seed in range(10))


def test_less_than_five_percent_does_not_fail_however_sure() -> None:
    a, b = drawn(1, 20, slower=0.03, noise=0.001)
    test = paired_test(a, b)
    assert test.p < 0.001
    assert not test.slower(at_least=0.05, p_below=0.01)


def test_a_faster_build_is_not_slower() -> None:
    test = paired_test(*drawn(1, 20, slower=-0.10))
    assert test.ratio < 0.95
    assert test.p > 0.99


def test_all_swaps_and_draws_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    a, b = drawn(3, 12, slower=0.01)
    exact = paired_test(a, b)
    monkeypatch.setattr(permutation, "EXACT_PAIRS", 0)
    assert 0.02 < exact.p < 0.98
    assert paired_test(a, b).p == pytest.approx(exact.p, abs=0.015)
    assert paired_test(a, b) == paired_test(a, b)


@pytest.mark.parametrize("pairs", [1, 7, 14])
def test_the_smallest_p_is_one_of_all_swaps(pairs: int) -> None:
    assert paired_test([1.0] * pairs, [1.5] * pairs).p == 2.0**-pairs


def test_equal_times_have_p_of_one() -> None:
    assert paired_test([1.0, 2.0, 3.0], [1.0, 2.0, 3.0]).p == 1


@pytest.mark.parametrize("bad", [0.0, -1.0, math.nan, math.inf])
def test_times_must_be_times(bad: float) -> None:
    with pytest.raises(ValueError, match=r"^b has .*: must be finite and above 0$"):
        paired_test([1.0, 1.0], [1.0, bad])
    with pytest.raises(ValueError, match=r"^a has .*: must be finite and above 0$"):
        paired_test([bad], [1.0])


def test_times_must_be_pairs() -> None:
    with pytest.raises(ValueError, match=r"^a: 0 times: must be at least 1$"):
        paired_test([], [])
