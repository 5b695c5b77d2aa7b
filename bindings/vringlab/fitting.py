"""Fits cost rows to published rates."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import CancelledError, ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from vringlab import _native
from vringlab._fields import as_float
from vringlab.calibration import (
    Calibration,
    FittedPoint,
    Point,
    as_count,
    as_seed,
    checked_points,
    data_sha256,
    six_digits,
    with_parameters,
)
from vringlab.costs import CostPrior
from vringlab.execute import run_many, watch
from vringlab.progress import Progress, reporting
from vringlab.scenario import native_scenario

_T = TypeVar("_T")

BETWEEN_HOSTS = 2.0
"""The stated 5-95 % range of what an "unmodelled" row is on one host over what hosts share: half to
twice. A judgement: on the rows that the table has for more than one processor they differ by about
as much, for the same code."""
MOST_BETWEEN_HOSTS = 10.0
"""Those rows' own ranges are two decades, a tenth to ten times the best."""

# Runs a point that a fit usually takes, and those of a draw: for the bar.
_FIT_RUNS, _DRAW_RUNS = 600, 5


@dataclass(frozen=True, slots=True)
class Joint:
    """A calibration to the rates of several sources, and those that left out one source each."""

    calibration: Calibration
    without: tuple[tuple[str, Calibration], ...]
    """By source; the others' rates descend to it from the calibration to all."""


def calibrate(
    points: Iterable[Point],
    *,
    priors: Iterable[CostPrior] | None = None,
    between_hosts: float | None = None,
    draws: int = 200,
    seed: int = 1,
    progress: Progress = None,
) -> Calibration:
    """Fits cost rows to published rates: the maximum of posterior, by Levenberg-Marquardt.

    All rows that a rate depends on are fitted, each with the prior that it has in `cost_rows()`,
    or in `priors`. `draws` is the size of the sample of the posterior that predictions use.
    progress is that of `run`, in runs of which the number is an estimate.

    What no row explains ("unmodelled") is a parameter of each host by itself. With `between_hosts`
    hosts share it instead, each but for a factor of its own, whose 5-95 % range is 1/between_hosts
    to between_hosts; the prior on each host stays the row's own.

    >>> from vringlab import Scenario
    >>> point = Point(id="a", scenario=Scenario(packets=2000), rate_pps=5e6, relative_sigma=0.02)
    >>> fit = calibrate([point], draws=20)
    >>> abs(run_many([fit.apply(point.scenario)])[0].rate_pps / 5e6 - 1) < 0.02
    True
    """
    asked = _asked(points, priors, between_hosts, draws, seed)
    return _watched(asked, lambda control: _calibration(asked, _fit(asked, control)), progress)


def calibrate_jointly(
    points: Iterable[Point],
    sources: Mapping[str, str],
    *,
    between_hosts: float = BETWEEN_HOSTS,
    draws: int = 200,
    draws_without: int = 50,
    seed: int = 1,
    progress: Progress = None,
) -> Joint:
    """Fits cost rows to the rates of all sources together, then leaves out one source at a time.

    `sources`: by the id of a point, whose rate it is. Each fit without a source has
    `draws_without` draws.

    >>> from vringlab import AccessPlan, Scenario
    >>> base = Scenario(packets=2000)
    >>> points = [
    ...     Point(id=plan, scenario=base.replace(plan=p), rate_pps=rate, relative_sigma=0.02)
    ...     for plan, p, rate in (("a", AccessPlan.user(), 4e6), ("b", AccessPlan.vmap(), 5e6))
    ... ]
    >>> joint = calibrate_jointly(points, {"a": "x", "b": "y"}, draws=0, draws_without=0)
    >>> [(source, [p.id for p in fit.points]) for source, fit in joint.without]
    [('x', ['b']), ('y', ['a'])]
    """
    asked = _asked(points, None, between_hosts, draws, seed)
    groups = _groups(asked.points, sources)
    count = as_count("draws_without", draws_without)
    return _watched(asked, lambda control: _joint(asked, groups, count, control), progress)


@dataclass(frozen=True, slots=True)
class _Asked:
    """What is to be fitted."""

    points: list[Point]
    overrides: dict[str, CostPrior]
    between_hosts: float
    """1: hosts share nothing."""
    draws: int
    seed: int

    @property
    def native(self) -> list[_native.CalibrationPoint]:
        return [
            _native.CalibrationPoint(
                p.id, native_scenario(p.scenario), p.rate_pps, p.relative_sigma, p.guest_system
            )
            for p in self.points
        ]


@dataclass(frozen=True, slots=True)
class _Fitted:
    priors: list[CostPrior]
    fit: _native.Fit
    sample: NDArray[np.float64]


def _asked(
    points: Iterable[Point],
    priors: Iterable[CostPrior] | None,
    between_hosts: float | None,
    draws: int,
    seed: int,
) -> _Asked:
    between = 1.0 if between_hosts is None else as_float("between_hosts", between_hosts)
    if between_hosts is not None and not 1 < between < MOST_BETWEEN_HOSTS:
        raise ValueError(
            f"between_hosts = {between}: must be above 1 and below {MOST_BETWEEN_HOSTS}"
        )
    count, seed = as_count("draws", draws), as_seed(seed)
    return _Asked(checked_points(points), _priors(priors), between, count, seed)


def _watched(asked: _Asked, work: Callable[[_native.RunControl], _T], progress: Progress) -> _T:
    """Works in a thread, so that it can be interrupted."""
    control = _native.RunControl()
    total = (_FIT_RUNS + _DRAW_RUNS * asked.draws) * len(asked.points)
    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(work, control)
        try:
            with reporting(progress, total) as report:
                watch([future], lambda: report(min(control.runs_done, total)))
                report(total)
        finally:
            control.stop = True
    return future.result()


def _fit(asked: _Asked, control: _native.RunControl) -> _Fitted:
    points = asked.native
    free = _not_stopped(_native.free_parameters(points, asked.between_hosts, control))
    priors = _free_priors(free, asked.overrides)
    parameters = [_native.Parameter(p.name, p.low, p.best, p.high) for p in priors]
    fit = _not_stopped(_native.calibrate(points, parameters, control))
    if not fit.converged:
        raise RuntimeError(f"calibration: not converged after {fit.iterations} iterations")
    sample = _native.draw_posterior(fit, points, asked.draws, asked.seed, control)
    return _Fitted(priors, fit, _not_stopped(sample))


def _joint(
    asked: _Asked, groups: Mapping[str, list[int]], draws: int, control: _native.RunControl
) -> Joint:
    fitted = _fit(asked, control)
    without = tuple(
        (source, _left_out(asked, fitted, kept, draws, control)) for source, kept in groups.items()
    )
    return Joint(_calibration(asked, fitted), without)


def _left_out(
    asked: _Asked, fitted: _Fitted, kept: list[int], draws: int, control: _native.RunControl
) -> Calibration:
    others = replace(asked, points=[asked.points[i] for i in kept])
    fit = _not_stopped(_native.leave_out(fitted.fit, asked.native, kept, control))
    sample = _native.draw_posterior(fit, others.native, draws, asked.seed, control)
    return _calibration(others, _Fitted(fitted.priors, fit, _not_stopped(sample)))


def _groups(points: Sequence[Point], sources: Mapping[str, str]) -> dict[str, list[int]]:
    """By source: the indices of the points of all others."""
    for point in points:
        if point.id not in sources:
            raise ValueError(f"sources: nothing for {point.id}")
    named = [sources[point.id] for point in points]
    if len(set(named)) < 2:
        raise ValueError("sources: there must be at least two")
    return {
        source: [i for i, other in enumerate(named) if other != source]
        for source in dict.fromkeys(named)
    }


def _not_stopped(value: _T | None) -> _T:
    if value is None:
        raise CancelledError
    return value


def _priors(priors: Iterable[CostPrior] | None) -> dict[str, CostPrior]:
    by_name: dict[str, CostPrior] = {}
    for i, prior in enumerate(priors or ()):
        if not isinstance(prior, CostPrior):
            raise TypeError(f"priors[{i}] must be a CostPrior, not {prior!r:.80}")
        if not 0 < prior.low < prior.high:
            raise ValueError(f"{prior.name}: must be 0 < low < high; to fix a row, set it in costs")
        if prior.name in by_name:
            raise ValueError(f"priors: {prior.name} comes twice")
        by_name[prior.name] = prior
    return by_name


def _free_priors(free: list[_native.Parameter], overrides: dict[str, CostPrior]) -> list[CostPrior]:
    priors = [overrides.get(p.name, CostPrior(p.name, p.low, p.best, p.high)) for p in free]
    names = [prior.name for prior in priors]
    if not names:
        raise ValueError("points: no rate depends on any cost row")
    for name in overrides:
        if name not in names:
            raise ValueError(f"priors: no rate depends on {name}, only on {', '.join(names)}")
    return priors


def _calibration(asked: _Asked, fitted: _Fitted) -> Calibration:
    names = [prior.name for prior in fitted.priors]
    values = [six_digits(value) for value in fitted.fit.values]
    at_fit = [with_parameters(p.scenario, names, values) for p in asked.points]
    results = run_many(at_fit, progress=False)
    return Calibration(
        priors=tuple(fitted.priors),
        values=tuple(values),
        log_covariance=tuple(
            tuple(six_digits(float(v)) for v in row[: i + 1])
            for i, row in enumerate(fitted.fit.log_covariance)
        ),
        sample=tuple(tuple(map(float, draw)) for draw in fitted.sample),
        points=tuple(
            FittedPoint(
                id=point.id,
                rate_pps=point.rate_pps,
                relative_sigma=point.relative_sigma,
                predicted_pps=six_digits(
                    result.guest_system_rate if point.guest_system else result.rate_pps
                ),
            )
            for point, result in zip(asked.points, results, strict=True)
        ),
        data_sha256=data_sha256(asked.points),
        version=_native.version,
    )
