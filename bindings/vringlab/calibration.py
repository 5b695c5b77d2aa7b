"""Cost rows fitted to published rates: what the data say about them, and what they cannot tell."""

import hashlib
import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from vringlab import _native
from vringlab._fields import as_bool, as_float, as_int, as_str
from vringlab.costs import CostPrior
from vringlab.scenario import Scenario, native_scenario

UNMOVED = 0.95
"""Of a shrinkage above this the data say next to nothing about the parameter."""
CORRELATED = 0.5
"""Beyond this correlation the data tell two parameters' product or ratio, not each of them."""
TOLERANCE = 0.01
"""Fitting the same data again must give each value within this share of it."""
NORMAL_95 = 1.6448536269514722
"""95 % of a normal distribution lie below this many standard deviations."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """A published rate and the scenario that should give it.

    >>> Point(id="a", scenario=Scenario(), rate_pps=-1, relative_sigma=0.02)
    Traceback (most recent call last):
    ValueError: a: rate_pps = -1.0: must be positive and finite
    """

    id: str
    scenario: Scenario
    rate_pps: float
    relative_sigma: float
    """Standard deviation of ln(rate), between runs and in rounding."""
    guest_system: bool = False
    """The rate is I/Os that the guest makes in a second of its system time, not of elapsed time."""

    def __post_init__(self) -> None:
        if not as_str("id", self.id):
            raise ValueError('id = "": must not be empty')
        if not isinstance(self.scenario, Scenario):
            raise TypeError(f"{self.id}: scenario must be a Scenario, not {self.scenario!r:.80}")
        object.__setattr__(self, "guest_system", as_bool("guest_system", self.guest_system))
        for field in ("rate_pps", "relative_sigma"):
            value = positive(f"{self.id}: {field}", getattr(self, field))
            object.__setattr__(self, field, value)


@dataclass(frozen=True, slots=True, kw_only=True)
class FittedPoint:
    """A published rate that a calibration saw, and what the fitted model makes of it."""

    id: str
    rate_pps: float
    relative_sigma: float
    predicted_pps: float

    @property
    def residual(self) -> float:
        """ln(predicted / published), in standard deviations of the measurement."""
        return math.log(self.predicted_pps / self.rate_pps) / self.relative_sigma


@dataclass(frozen=True, slots=True)
class Unresolved:
    """What the data cannot tell apart."""

    parameters: tuple[str, ...]
    """Those whose prior the data hardly narrowed."""
    pairs: tuple[tuple[str, str, float], ...]
    """Two parameters and their correlation, the strongest first."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Calibration:
    """Cost rows at the maximum of posterior, and draws from the posterior around it.

    A parameter "row" stands for that cost row on every host, "row@host" on one host only, and
    "row*host" multiplies what "row" is on one host. All numbers are rounded to six significant
    digits, so that what is read back from JSON is equal.
    """

    priors: tuple[CostPrior, ...]
    """One a parameter: their 5-95 % ranges before the data."""
    values: tuple[float, ...]
    """Fitted, in the rows' own units."""
    log_covariance: tuple[tuple[float, ...], ...]
    """Of the logarithms of the parameters near the maximum: row i has i + 1 columns, the rest is
    symmetric."""
    sample: tuple[tuple[float, ...], ...]
    """Draws from the posterior, each with one value a parameter."""
    points: tuple[FittedPoint, ...]
    data_sha256: str
    """Of the points it was fitted to: `data_sha256(points)`."""
    version: str
    """Of the vringlab that fitted it."""
    tolerance: float = TOLERANCE
    """Fitting the same data again agrees within this share of each value."""

    def __post_init__(self) -> None:
        rows = [len(row) for row in self.log_covariance]
        if not self.values or len(self.priors) != len(self.values):
            raise ValueError(f"values: {len(self.values)} for {len(self.priors)} priors")
        if rows != list(range(1, len(self.values) + 1)):
            raise ValueError(
                f"log_covariance: must be {len(self.values)} rows of 1, 2, ... columns"
            )
        if any(len(draw) != len(self.values) for draw in self.sample):
            raise ValueError(f"sample: each row must have {len(self.values)} columns")
        if len(set(self.names)) < len(self.names):
            raise ValueError("priors: a name comes twice")
        try:
            np.linalg.cholesky(self._covariance())
        except np.linalg.LinAlgError:
            raise ValueError("log_covariance: must be positive definite") from None

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(prior.name for prior in self.priors)

    @property
    def prior_sigma(self) -> NDArray[np.float64]:
        """Standard deviations of the logarithms before the data, shape (n,)."""
        return np.array([math.log(p.high / p.low) / (2 * NORMAL_95) for p in self.priors])

    @property
    def posterior_sigma(self) -> NDArray[np.float64]:
        """The same after the data."""
        return np.sqrt(np.diag(self._covariance()))

    @property
    def shrinkage(self) -> dict[str, float]:
        """Posterior over prior standard deviation: 1 where the data say nothing."""
        shares = self.posterior_sigma / self.prior_sigma
        return dict(zip(self.names, map(float, shares), strict=True))

    @property
    def correlation(self) -> NDArray[np.float64]:
        """Of the logarithms, after the data, shape (n, n)."""
        sigma = self.posterior_sigma
        correlation: NDArray[np.float64] = self._covariance() / np.outer(sigma, sigma)
        return correlation

    def posterior_range(self, name: str) -> tuple[float, float]:
        """5 % and 95 % of the parameter after the data."""
        at = self.names.index(name)
        factor = math.exp(NORMAL_95 * float(self.posterior_sigma[at]))
        return six_digits(self.values[at] / factor), six_digits(self.values[at] * factor)

    def unresolved(self) -> Unresolved:
        """What the data cannot tell apart."""
        names, correlation = self.names, self.correlation
        pairs = [
            (names[i], names[k], six_digits(float(correlation[i, k])))
            for i in range(len(names))
            for k in range(i)
            if abs(correlation[i, k]) > CORRELATED
        ]
        parameters = tuple(name for name, share in self.shrinkage.items() if share > UNMOVED)
        return Unresolved(parameters, tuple(sorted(pairs, key=lambda pair: -abs(pair[2]))))

    def apply(self, scenario: Scenario) -> Scenario:
        """The scenario with the fitted values; a row that it sets itself keeps its value."""
        return with_parameters(scenario, self.names, self.values)

    def draws(self, count: int | None = None) -> NDArray[np.float64]:
        """The first `count` draws of the sample, by default all, shape (count, n)."""
        most = len(self.sample)
        chosen = most if count is None else as_int("count", count)
        if not 0 <= chosen <= most:
            raise ValueError(f"count = {chosen}: must be between 0 and {most}, as calibrated")
        return np.array(self.sample[:chosen]).reshape(chosen, len(self.values))

    def saw(self, points: Iterable[Point]) -> bool:
        """Was it fitted to exactly these?"""
        return self.data_sha256 == data_sha256(points)

    def agrees_with(self, other: "Calibration") -> bool:
        """Same parameters, same data, and each value within the tolerance."""
        same = self.names == other.names and self.data_sha256 == other.data_sha256
        return same and all(
            abs(a - b) <= self.tolerance * abs(a)
            for a, b in zip(self.values, other.values, strict=True)
        )

    def to_json(self) -> str:
        """As text; `from_json` takes it back."""
        from vringlab.calibration_json import write

        return write(self)

    @classmethod
    def from_json(cls, text: str) -> Self:
        """What `to_json` wrote. ValueError that says where anything else is wrong."""
        from vringlab.calibration_json import parse

        return cls(**parse(text))

    def summary(self) -> str:
        """Parameters, points, and what the data cannot tell apart, as text."""
        return "\n".join(_summary(self))

    def __repr__(self) -> str:
        return f"Calibration({len(self.values)} parameters, {len(self.points)} points)"

    def _covariance(self) -> NDArray[np.float64]:
        n = len(self.log_covariance)
        lower = np.zeros((n, n))
        for i, row in enumerate(self.log_covariance):
            lower[i, : i + 1] = row
        return lower + np.tril(lower, -1).T


def with_parameters(scenario: Scenario, names: Sequence[str], values: Sequence[float]) -> Scenario:
    """The scenario with these parameters; a row that it sets itself keeps its value."""
    native = _native.with_parameters(native_scenario(scenario), list(names), list(values))
    return scenario.replace(costs=native.costs)


def data_sha256(points: Iterable[Point]) -> str:
    """Of the published rates and their scenarios. A new field of Scenario does not change it."""
    rows = [
        _fields(point) | {"scenario": _changes(point.scenario)} for point in checked_points(points)
    ]
    for row in rows:
        if not row["guest_system"]:  # as when there was no such field
            del row["guest_system"]
    return hashlib.sha256(json.dumps(rows, sort_keys=True).encode()).hexdigest()


def six_digits(value: float) -> float:
    return float(f"{value:.6g}")


def positive(name: str, value: Any) -> float:
    number = as_float(name, value)
    if not (number > 0 and math.isfinite(number)):
        raise ValueError(f"{name} = {number}: must be positive and finite")
    return number


def as_count(name: str, value: Any) -> int:
    count = as_int(name, value)
    if not 0 <= count <= 10**6:
        raise ValueError(f"{name}: must be between 0 and 1000000")
    return count


def as_seed(value: Any) -> int:
    seed = as_int("seed", value)
    if not 0 <= seed < 2**64:
        raise ValueError("seed: must be between 0 and 2**64 - 1")
    return seed


def checked_points(points: Iterable[Point]) -> list[Point]:
    data = list(points)
    for i, point in enumerate(data):
        if not isinstance(point, Point):
            raise TypeError(f"points[{i}] must be a Point, not {point!r:.80}")
    if not data:
        raise ValueError("points: there must be at least one")
    if len({point.id for point in data}) < len(data):
        raise ValueError("points: an id comes twice")
    return data


def _fields(value: Any) -> dict[str, Any]:
    return {name: getattr(value, name) for name in value.__dataclass_fields__}


def _changes(scenario: Scenario) -> dict[str, Any]:
    fields = scenario.to_dict()
    return {name: fields[name] for name in scenario.changes()}


def _summary(c: Calibration) -> Iterable[str]:
    shrinkage = c.shrinkage
    yield f"{'parameter':36} {'low':>8} {'best':>8} {'high':>8} {'fitted':>8} {'shrinkage':>9}"
    for prior, value in zip(c.priors, c.values, strict=True):
        bounds = f"{prior.low:8.4g} {prior.best:8.4g} {prior.high:8.4g}"
        yield f"{prior.name:36} {bounds} {value:8.4g} {shrinkage[prior.name]:9.3f}"
    yield f"{'point':36} {'published':>9} {'fitted':>9} {'sigmas':>9}"
    for p in c.points:
        rates = f"{p.rate_pps / 1e6:9.4g} {p.predicted_pps / 1e6:9.4g}"
        yield f"{p.id:36} {rates} {p.residual:+9.2f}"
    unresolved = c.unresolved()
    yield f"hardly narrowed: {', '.join(unresolved.parameters) or 'none'}"
    for a, b, correlation in unresolved.pairs:
        yield f"told only together: {a}, {b} (correlation {correlation:+.2f})"
