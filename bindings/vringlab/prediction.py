"""Rates that a calibration predicts, with the interval in which a measurement should lie."""

import hashlib
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from vringlab import _native
from vringlab._fields import as_float
from vringlab.calibration import (
    NORMAL_95,
    Calibration,
    Point,
    as_seed,
    six_digits,
    with_parameters,
)
from vringlab.costs import CLOCK, CostPrior, cost_rows, hosts, split_name
from vringlab.execute import as_scenario, run_many
from vringlab.progress import Progress
from vringlab.run_result import Result
from vringlab.scenario import Scenario


@dataclass(frozen=True, slots=True)
class Gain:
    """What one predicted scenario gains in rate over another, in percent."""

    percent: float
    """At the fit."""
    low: float
    high: float
    level: float
    """Share of the posterior between low and high, the noise of both measurements included."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Prediction:
    """The rate of a scenario. Numbers are rounded to six significant digits."""

    scenario: Scenario
    """As it was asked for."""
    result: Result
    """The run at the fit."""
    rate_pps: float
    """At the fit."""
    low_pps: float
    high_pps: float
    level: float
    """Share of the posterior between low and high, the noise of one measurement included."""
    sampled_pps: tuple[float, ...]
    """Measurements to expect, one a draw; draw i is the same in all predictions of a call."""

    def gain_over(self, base: "Prediction") -> Gain:
        """The gain over another prediction of the same call."""
        if len(self.sampled_pps) != len(base.sampled_pps) or self.level != base.level:
            raise ValueError("base: must be a prediction of the same call")
        ratios = np.array(self.sampled_pps) / np.array(base.sampled_pps)
        low, high = _interval(100 * (ratios - 1), self.level)
        percent = six_digits(100 * (self.result.rate_pps / base.result.rate_pps - 1))
        return Gain(percent, low, high, self.level)

    def __repr__(self) -> str:
        rates = (f"{v / 1e6:.4g}" for v in (self.rate_pps, self.low_pps, self.high_pps))
        return "Prediction(simulated {} Mpps, {} to {})".format(*rates)


@dataclass(frozen=True, slots=True)
class PredictedPoint:
    """A published rate and what a calibration predicts for it."""

    point: Point
    predicted: float
    low: float
    high: float
    """Of the 90 % interval in which a measurement should lie."""

    @property
    def error_percent(self) -> float:
        """Of the prediction, relative to the published value."""
        return 100 * (self.predicted / self.point.rate_pps - 1)

    @property
    def inside(self) -> bool:
        """Is the published value in the interval?"""
        return self.low <= self.point.rate_pps <= self.high


def predict(
    scenarios: Iterable[Scenario],
    calibration: Calibration,
    *,
    draws: int | None = None,
    seed: int = 1,
    measurement_sigma: float = 0.02,
    level: float = 0.90,
    workers: int | None = None,
    progress: Progress = None,
) -> tuple[Prediction, ...]:
    """Runs each scenario at the fit and at `draws` samples of the posterior, by default all.

    Cost rows that were not fitted, because no calibrated rate depends on them, are drawn from their
    priors. measurement_sigma is the standard deviation of ln(rate) that a measurement adds. Results
    do not depend on `workers`, on the compiler, or on which other scenarios are asked for.

    >>> from vringlab import Point, calibrate
    >>> base = Scenario(packets=2000)
    >>> point = Point(id="a", scenario=base, rate_pps=5e6, relative_sigma=0.02)
    >>> fit = calibrate([point], draws=20)
    >>> a, b = predict([base, base.replace(batch=1)], fit, draws=20)
    >>> a.low_pps < a.rate_pps < a.high_pps
    True
    >>> b.gain_over(a).percent < 0
    True
    """
    asked = tuple(scenarios)
    _between("measurement_sigma", measurement_sigma, 0, 1)
    _between("level", level, 0.01, 0.999)
    sampled = sample(asked, calibration, draws=draws, seed=seed, workers=workers, progress=progress)
    return predicted(asked, sampled, seed=seed, measurement_sigma=measurement_sigma, level=level)


def predicted(
    scenarios: Iterable[Scenario],
    sampled: Iterable[Sequence[Result]],
    *,
    seed: int = 1,
    measurement_sigma: float = 0.02,
    level: float = 0.90,
) -> tuple[Prediction, ...]:
    """What `predict` makes of runs that `sample` has made, for those who need both.

    >>> from vringlab import Point, calibrate
    >>> base = Scenario(packets=2000)
    >>> point = Point(id="a", scenario=base, rate_pps=5e6, relative_sigma=0.02)
    >>> fit = calibrate([point], draws=5)
    >>> predicted([base], sample([base], fit)) == predict([base], fit)
    True
    """
    sigma = _between("measurement_sigma", measurement_sigma, 0, 1)
    share = _between("level", level, 0.01, 0.999)
    finish = partial(_prediction, level=share, sigma=sigma, seed=as_seed(seed))
    return tuple(finish(s, results) for s, results in zip(scenarios, sampled, strict=True))


def predict_points(
    points: Iterable[Point], calibration: Calibration, *, seed: int = 1
) -> tuple[PredictedPoint, ...]:
    """What a calibration that has not seen these points predicts for them.

    >>> from vringlab import calibrate
    >>> base = Scenario(packets=2000)
    >>> a = Point(id="a", scenario=base, rate_pps=5e6, relative_sigma=0.02)
    >>> b = Point(id="b", scenario=base.replace(batch=1), rate_pps=2e6, relative_sigma=0.02)
    >>> [found] = predict_points([b], calibrate([a], draws=20))
    >>> found.low < found.predicted < found.high
    True
    """
    asked = list(points)
    sampled = sample((p.scenario for p in asked), calibration, seed=seed, progress=False)
    return tuple(_point(p, runs, seed) for p, runs in zip(asked, sampled, strict=True))


def _point(point: Point, runs: Sequence[Result], seed: int) -> PredictedPoint:
    at_fit, *drawn = (r.guest_system_rate if point.guest_system else r.rate_pps for r in runs)
    noise = noise_factors(f"{seed} {point.id}", len(drawn), point.relative_sigma)
    low, high = _interval(np.array(drawn) * noise, 0.90)
    return PredictedPoint(point, six_digits(at_fit), low, high)


def sample(
    scenarios: Iterable[Scenario],
    calibration: Calibration,
    *,
    draws: int | None = None,
    seed: int = 1,
    workers: int | None = None,
    progress: Progress = None,
) -> tuple[tuple[Result, ...], ...]:
    """The runs behind `predict`: for each scenario the one at the fit, then one a draw.

    For what is not a packet rate: draw i is the same in all scenarios of a call, so that gains can
    be taken draw by draw.

    >>> from vringlab import Point, calibrate
    >>> base = Scenario(packets=2000)
    >>> point = Point(id="a", scenario=base, rate_pps=5e6, relative_sigma=0.02)
    >>> fit = calibrate([point], draws=5)
    >>> ((at_fit, *drawn),) = sample([base], fit, draws=3)
    >>> len(drawn)
    3
    """
    asked = [as_scenario(f"scenarios[{i}]", s) for i, s in enumerate(scenarios)]
    if not isinstance(calibration, Calibration):
        raise TypeError(f"calibration must be a Calibration, not {calibration!r:.80}")
    fitted, seed = calibration.draws(draws), as_seed(seed)
    if not len(fitted):
        raise ValueError("draws: must be at least 1")
    runs = (run for s in asked for run in _runs(s, calibration, fitted, seed))
    results = run_many(runs, workers=workers, progress=progress)
    each = 1 + len(fitted)
    return tuple(tuple(results[i * each : (i + 1) * each]) for i in range(len(asked)))


def _prediction(
    scenario: Scenario, results: Sequence[Result], *, level: float, sigma: float, seed: int
) -> Prediction:
    at_fit, *sampled = results
    noise = noise_factors(f"{seed} {scenario!r}", len(sampled), sigma)
    rates = np.array([result.rate_pps for result in sampled]) * noise
    low, high = _interval(rates, level)
    return Prediction(
        scenario=scenario,
        result=at_fit,
        rate_pps=six_digits(at_fit.rate_pps),
        low_pps=low,
        high_pps=high,
        level=level,
        sampled_pps=tuple(six_digits(float(rate)) for rate in rates),
    )


def _runs(
    scenario: Scenario, calibration: Calibration, fitted: NDArray[np.float64], seed: int
) -> Iterable[Scenario]:
    """The scenario at the fit, then once a draw."""
    yield calibration.apply(scenario)
    before = _not_fitted(scenario.host, calibration)
    after = _factors(scenario.host, calibration)
    names = [p.name for p in before] + list(calibration.names) + [p.name for p in after]
    drawn = [_from_prior(prior, len(fitted), seed) for prior in before]
    factors = [_from_prior(prior, len(fitted), seed) for prior in after]
    # Of two values for a row the later one counts: "row@host" that was fitted after "row".
    for values in zip(*drawn, *fitted.T, *factors, strict=True):
        yield with_parameters(scenario, names, [float(value) for value in values])


def _not_fitted(host: str, calibration: Calibration) -> list[CostPrior]:
    """Priors of all rows that have a range and no fitted value."""
    rows = [CostPrior(r.name, r.low, r.best, r.high) for r in cost_rows() if r.low > 0]
    clocks = [CostPrior(f"{CLOCK}@{h.name}", *h.clock_ghz) for h in hosts() if h.name == host]
    return [p for p in rows + clocks if p.low < p.high and p.name not in calibration.names]


def _factors(host: str, calibration: Calibration) -> list[CostPrior]:
    """Of a host that was not fitted: how far it may be from what the fitted ones share."""
    spreads = {}
    for prior in calibration.priors:
        row, mark, _ = split_name(prior.name)
        if mark == "*":
            spreads[f"{row}*{host}"] = (prior.low, prior.best, prior.high)
    fitted = set(calibration.names)
    return [CostPrior(name, *range_) for name, range_ in spreads.items() if name not in fitted]


def _from_prior(prior: CostPrior, count: int, seed: int) -> NDArray[np.float64]:
    sigma = math.log(prior.high / prior.low) / (2 * NORMAL_95)
    values = prior.best * np.exp(sigma * _normals(f"{seed} {prior.name}", count))
    return np.array([six_digits(float(value)) for value in values])


def noise_factors(name: str, count: int, sigma: float) -> NDArray[np.float64]:
    """By what `count` measurements differ from what is so, the same for a name, shape (count,).

    sigma: the standard deviation of their logarithms.

    >>> noise_factors("1 a", 2, 0.0).tolist()
    [1.0, 1.0]
    """
    return np.asarray(np.exp(sigma * _normals(name, count)))


def _normals(name: str, count: int) -> NDArray[np.float64]:
    """Standard normal numbers: a stream of its own for each name."""
    stream = int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "little")
    return np.asarray(_native.standard_normals(count, stream))


def _interval(samples: NDArray[np.float64], level: float) -> tuple[float, float]:
    low, high = np.quantile(samples, [(1 - level) / 2, (1 + level) / 2])
    return six_digits(float(low)), six_digits(float(high))


def _between(name: str, value: float, low: float, high: float) -> float:
    number = as_float(name, value)
    if math.isnan(number) or not low <= number <= high:
        raise ValueError(f"{name} = {number}: must be between {low} and {high}")
    return number
