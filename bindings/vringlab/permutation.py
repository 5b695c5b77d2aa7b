"""Is b slower than a? A permutation test of times that were measured in turns."""

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

EXACT_PAIRS = 14
"""Up to so many pairs all swaps are tried: 2^14 of them."""
_DRAWS = 20_000


@dataclass(frozen=True, slots=True)
class PairedTest:
    """What pairs of times say about b against a."""

    pairs: int
    ratio: float
    """Median of b / a over the pairs."""
    p: float
    """How likely a mean log ratio as large as this is, if a and b are alike; one-sided."""

    def slower(self, *, at_least: float, p_below: float) -> bool:
        """Is b slower by the fraction `at_least` or more, and is that no chance?

        >>> PairedTest(pairs=20, ratio=1.06, p=0.001).slower(at_least=0.05, p_below=0.01)
        True
        >>> PairedTest(pairs=20, ratio=1.04, p=0.001).slower(at_least=0.05, p_below=0.01)
        False
        """
        return self.ratio >= 1 + at_least and self.p < p_below


def paired_test(a: Sequence[float], b: Sequence[float], *, seed: int = 0) -> PairedTest:
    """Tests whether b is slower than a; a[i] and b[i] were measured one after the other.

    If they are alike, each pair could as well be the other way round: p is the share of all such
    swaps whose mean log ratio is at least what was measured. Up to EXACT_PAIRS pairs it is exact,
    beyond that from draws with `seed`, the measured order counted among them.

    >>> paired_test([1, 1, 1, 1, 1, 1, 1], [2, 2, 2, 2, 2, 2, 2])
    PairedTest(pairs=7, ratio=2.0, p=0.0078125)
    >>> paired_test([1, 2], [1])
    Traceback (most recent call last):
    ValueError: b: 1 times: must be as many as in a, 2
    """
    logs = _log_ratios(a, b)
    return PairedTest(len(logs), math.exp(median(logs)), _p_value(logs, seed))


def _log_ratios(a: Sequence[float], b: Sequence[float]) -> list[float]:
    if len(a) != len(b):
        raise ValueError(f"b: {len(b)} times: must be as many as in a, {len(a)}")
    if not a:
        raise ValueError("a: 0 times: must be at least 1")
    for name, times in (("a", a), ("b", b)):
        for time in times:
            if not (math.isfinite(time) and time > 0):
                raise ValueError(f"{name} has {time}: must be finite and above 0")
    return [math.log(late / early) for early, late in zip(a, b, strict=True)]


def _p_value(logs: Sequence[float], seed: int) -> float:
    # Sums in another order differ in their last bits, and equal ones must count.
    enough = sum(logs) - 1e-9 * sum(map(abs, logs))
    if len(logs) <= EXACT_PAIRS:
        swaps = range(1 << len(logs))
        return sum(_swapped(logs, swap) >= enough for swap in swaps) / len(swaps)
    bits = random.Random(seed)
    as_large = sum(_swapped(logs, bits.getrandbits(len(logs))) >= enough for _ in range(_DRAWS))
    return (1 + as_large) / (1 + _DRAWS)


def _swapped(logs: Sequence[float], swap: int) -> float:
    """The sum of them with those turned round whose bit is set."""
    return sum(-log if swap >> i & 1 else log for i, log in enumerate(logs))
