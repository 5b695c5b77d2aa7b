"""How far the model itself is off, beyond what its rows and the noise of a measurement explain.

An interval of a prediction holds the posterior of the cost rows and one measurement's noise. If the
model lacked nothing, nine in ten rates of a source that no fit has seen would be in their 90 %
intervals. How many more standard deviations that takes is estimated from rates that may be fitted,
each predicted from the other sources; no row to predict has a part in it.
"""

import math
from collections.abc import Iterable

import numpy as np

from vringlab.calibration import NORMAL_95

MODEL_SIGMA = 0.12
"""Standard deviation of ln(rate) that the model adds: `model_sigma` of the rates in
results/calibration/leave_one_out.csv, two digits of it."""


def model_sigma(rates: Iterable[tuple[float, float, float]]) -> float:
    """From rates and their 90 % intervals (published, low, high) without it; shape: any number.

    The most likely t, where ln(published) is normal about the middle of the interval's logarithms
    with the variance s^2 + t^2, and s is the interval's own; 0 if the intervals are wide enough.

    >>> model_sigma([(1.0, 0.9, 1.1), (1.02, 0.9, 1.1)])
    0.0
    >>> round(model_sigma([(1.0, 0.99, 1.01), (1.1, 0.99, 1.01), (0.9, 0.99, 1.01)]), 2)
    0.08
    """
    from scipy.optimize import brentq  # takes longer to load than all else together

    logs = np.log(np.array(list(rates), dtype=float).reshape(-1, 3))
    if not len(logs) or not np.all(np.isfinite(logs)) or np.any(logs[:, 1] >= logs[:, 2]):
        raise ValueError("rates: must be some, each (published, low, high) above 0, low below high")
    errors = logs[:, 0] - (logs[:, 1] + logs[:, 2]) / 2
    own = ((logs[:, 2] - logs[:, 1]) / (2 * NORMAL_95)) ** 2

    def slope(variance: float) -> float:
        """Of twice the log likelihood."""
        total = own + variance
        return float(np.sum(errors**2 / total**2 - 1 / total))

    if slope(0.0) <= 0:
        return 0.0
    # Above the largest squared error every term falls.
    return math.sqrt(brentq(slope, 0.0, float(np.max(errors**2))))


def widened(low: float, predicted: float, high: float, sigma: float) -> tuple[float, float]:
    """The 90 % interval of a positive value with an independent error of ln(value) besides.

    Each side by itself, in quadrature.

    >>> [round(end, 3) for end in widened(90.0, 100.0, 120.0, 0.1)]
    [82.256, 127.833]
    """
    if not low > 0:
        return low, high
    besides = NORMAL_95 * sigma
    below, above = max(math.log(predicted / low), 0), max(math.log(high / predicted), 0)
    return predicted * math.exp(-math.hypot(below, besides)), predicted * math.exp(
        math.hypot(above, besides)
    )
