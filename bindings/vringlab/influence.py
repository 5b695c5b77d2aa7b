"""Which cost rows a result hangs on: Morris's screening, then Sobol's indices of what is left."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vringlab._fields import as_int, as_str
from vringlab.calibration import NORMAL_95, as_seed, six_digits
from vringlab.costs import CLOCK, CostPrior, CostRow, cost_rows, hosts
from vringlab.execute import as_scenario, run_many
from vringlab.progress import Progress
from vringlab.run_result import Result
from vringlab.scenario import Scenario

Metric = Callable[[Result], float]

METRICS: dict[str, Metric] = {
    "rate_pps": lambda r: r.rate_pps,
    "ns_per_packet": lambda r: r.ns_per_packet,
    "busy_ns_per_packet": lambda r: r.busy_ns_per_packet("worker"),
    "guest_busy_ns_per_packet": lambda r: r.busy_ns_per_packet("guest"),
    "throughput_gbps": lambda r: r.throughput_gbps,
    "throughput_per_cpu": lambda r: r.throughput_per_cpu,
    "latency_mean_us": lambda r: r.latency.mean_ps / 1e6,
    "latency_p50_us": lambda r: r.latency.p50_ps / 1e6,
    "latency_p99_us": lambda r: r.latency.p99_ps / 1e6,
}
"""Results by name; any other is a function of a Result."""

SCREENED = (0.05, 0.95)
"""Quantiles of a prior that the screening stays between: its stated range."""
DRAWN = (0.0005, 0.9995)
"""Those that the indices stay between."""
TRAJECTORIES = 6
"""Of the screening; each is a run more than there are rows."""
LEVELS = 4


@dataclass(frozen=True, slots=True)
class Influence:
    """What one cost row's prior does to a result."""

    name: str
    effect: float
    """Morris's mu*: the mean of the absolute change of the result, over the row's 90 % range, in
    the result's unit."""
    spread: float
    """Morris's sigma: how much that change hangs on the other rows."""
    first: float
    """Sobol's first-order index: the part of the result's variance that would go if the row were
    known. Below 0 by chance, where there are too few samples. 0 for what the screening left out."""
    first_error: float
    """95 % of its bootstrap are within this."""
    total: float
    """Sobol's total index: the part that the row has a hand in. 0 for what was left out."""
    total_error: float


@dataclass(frozen=True, slots=True, repr=False)
class Sensitivity:
    """How a simulated result varies as its cost rows do. Numbers have six significant digits."""

    scenario: Scenario
    base: Scenario | None
    """Of a gain: what it is over."""
    metric: str
    mean: float
    """Over the priors of the rows that the screening kept."""
    deviation: float
    """Standard deviation of the same."""
    rows: tuple[Influence, ...]
    """All that move the result, by total index, then by effect."""
    runs: int

    def summary(self) -> str:
        """As text."""
        what = self.metric if self.base is None else f"gain in {self.metric}, %"
        head = f"simulated {what}: {self.mean:.4g}, standard deviation {self.deviation:.2g}"
        lines = [f"{head}; {self.runs} runs", f"{'cost row':36} {'effect':>10} first  total"]
        for row in self.rows:
            indices = f"{row.first:6.3f} {row.total:6.3f}" if row.total_error else "  left out"
            lines.append(f"{row.name:36} {row.effect:>10.4g} {indices}")
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"Sensitivity(simulated {self.metric}, {len(self.rows)} rows, {self.runs} runs)"


@dataclass(frozen=True, slots=True)
class NextMeasurement:
    """The cost row to measure next."""

    name: str
    unit: str
    low: float
    high: float
    """Its 5-95 % range now."""
    evidence: str
    variance_share: float
    """Of the result's variance that would go with it: its first-order index."""
    sensitivity: Sensitivity


def sensitivity(
    scenario: Scenario,
    *,
    base: Scenario | None = None,
    costs: Iterable[str | CostPrior] | None = None,
    metric: str | Metric = "rate_pps",
    n: int = 64,
    keep: int = 8,
    seed: int = 1,
    progress: Progress = None,
) -> Sensitivity:
    """Sobol's indices of a result over the log-normal priors of cost rows.

    `costs`: names of rows, or priors of their own; by default all that have a range and that the
    scenario does not set itself. Morris's screening keeps the `keep` rows with the largest effects.
    `metric`: one of METRICS or a function of a Result; with `base`, its gain over that scenario in
    percent, both with the same costs. `n`: samples of the indices, a power of two; (keep + 2) n
    runs are made, after the screening's. Needs SALib, the extra `sensitivity`.

    >>> found = sensitivity(
    ...     Scenario(packets=500), costs=["stac_clac_pair.intel", "access_ok"], n=16
    ... )
    >>> found.rows[0].name
    'stac_clac_pair.intel'
    """
    asked = _Asked.of(scenario, base, metric)
    priors = _priors(scenario, costs)
    n, keep = _power_of_two(n), _at_least_one("keep", keep)
    seed = as_seed(seed)
    if seed >= 2**32:
        raise ValueError("seed: must be below 2**32")
    effects = _screened(asked, priors, seed, progress)
    moving = sorted(
        (p for p in priors if effects[p.name][0] > 0), key=lambda p: -effects[p.name][0]
    )
    kept = moving[:keep]
    indices, values = _indices(asked, kept, n, seed, progress)
    rows = [_influence(p.name, effects[p.name], indices.get(p.name)) for p in moving]
    return Sensitivity(
        scenario,
        base,
        asked.name,
        mean=six_digits(float(values.mean())),
        deviation=six_digits(float(values.std())),
        rows=tuple(sorted(rows, key=lambda r: (-r.total, -r.effect))),
        runs=(TRAJECTORIES * (len(priors) + 1) + len(values)) * len(asked.scenarios),
    )


def next_measurement(
    scenario: Scenario,
    *,
    base: Scenario | None = None,
    costs: Iterable[str | CostPrior] | None = None,
    metric: str | Metric = "rate_pps",
    n: int = 64,
    seed: int = 1,
    progress: Progress = None,
) -> NextMeasurement:
    """The row whose prior adds most to the variance of a result, or of a gain over `base`.

    Once it were measured, so much of the variance would be gone.

    >>> asked = Scenario(packets=500)
    >>> next_measurement(asked, costs=["stac_clac_pair.intel", "access_ok"], n=16).name
    'stac_clac_pair.intel'
    """
    found = sensitivity(
        scenario, base=base, costs=costs, metric=metric, n=n, seed=seed, progress=progress
    )
    if not found.rows:
        raise ValueError(f"costs: none of them moves {found.metric}")
    best = max(found.rows, key=lambda row: (row.first, row.effect))
    prior = next(p for p in _priors(scenario, costs) if p.name == best.name)
    row = _row(best.name)
    unit, evidence = ("GHz", "") if row is None else (row.unit, row.evidence)
    return NextMeasurement(best.name, unit, prior.low, prior.high, evidence, best.first, found)


# --- what is asked --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Asked:
    scenarios: tuple[Scenario, ...]
    """The scenario, then what a gain is over."""
    name: str
    metric: Metric

    @classmethod
    def of(cls, scenario: Any, base: Any, metric: Any) -> "_Asked":
        asked = [as_scenario("scenario", scenario)]
        if base is not None:
            asked.append(as_scenario("base", base))
        if callable(metric):
            return cls(tuple(asked), getattr(metric, "__name__", "metric"), metric)
        if as_str("metric", metric) not in METRICS:
            raise ValueError(f'metric = "{metric}": must be one of {", ".join(METRICS)}')
        return cls(tuple(asked), metric, METRICS[metric])

    def values(
        self, priors: Sequence[CostPrior], quantiles: NDArray[np.float64], progress: Progress
    ) -> NDArray[np.float64]:
        """The result at each row of quantiles of the priors."""
        drawn = [_costs(priors, row) for row in quantiles]
        runs = (s.replace(costs={**costs, **s.costs}) for costs in drawn for s in self.scenarios)
        found = [self._checked(r) for r in run_many(runs, progress=progress)]
        values = np.array(found).reshape(len(drawn), len(self.scenarios))
        if len(self.scenarios) == 1:
            return values[:, 0]
        gains: NDArray[np.float64] = 100 * (values[:, 0] / values[:, 1] - 1)
        return gains

    def _checked(self, result: Result) -> float:
        value = float(self.metric(result))
        if not math.isfinite(value):
            raise ValueError(f"metric: {self.name} is {value} for {result.scenario!r:.200}")
        return value


def _costs(priors: Sequence[CostPrior], quantiles: NDArray[np.float64]) -> dict[str, float]:
    return {p.name: _quantile(p, float(q)) for p, q in zip(priors, quantiles, strict=True)}


def _quantile(prior: CostPrior, q: float) -> float:
    """Of the log-normal whose 5-95 % range is the prior's."""
    sigma = math.log(prior.high / prior.low) / (2 * NORMAL_95)
    value = six_digits(prior.best * math.exp(sigma * NormalDist().inv_cdf(q)))
    row = _row(prior.name)
    return min(value, 1.0) if row is not None and row.unit == "fraction" else value


def _row(name: str) -> CostRow | None:
    return next((row for row in cost_rows() if row.name == name), None)


def _priors(scenario: Scenario, costs: Iterable[str | CostPrior] | None) -> list[CostPrior]:
    known = {r.name: CostPrior(r.name, r.low, r.best, r.high) for r in cost_rows()}
    [host] = [host for host in hosts() if host.name == scenario.host]
    known[CLOCK] = CostPrior(CLOCK, *host.clock_ghz)
    known = {name: p for name, p in known.items() if 0 < p.low < p.high}
    if costs is None:
        return [prior for name, prior in known.items() if name not in scenario.costs]
    priors = [c if isinstance(c, CostPrior) else _known(known, c) for c in costs]
    for prior in priors:
        if prior.name in scenario.costs:
            raise ValueError(f"costs: the scenario sets {prior.name} itself")
        if not 0 < prior.low < prior.high or "@" in prior.name or "*" in prior.name:
            raise ValueError(f"costs: {prior.name}: must be of a row, with 0 < low < high")
    if not priors or len({p.name for p in priors}) < len(priors):
        raise ValueError("costs: must be at least one row, and each only once")
    return priors


def _known(known: dict[str, CostPrior], name: str) -> CostPrior:
    if as_str("costs", name) not in known:
        raise ValueError(f'costs: "{name}": there is no such row with a range')
    return known[name]


def _power_of_two(n: Any) -> int:
    count = as_int("n", n)
    if not (2 <= count <= 2**16 and count & (count - 1) == 0):
        raise ValueError(f"n = {count}: must be a power of two between 2 and 65536")
    return count


def _at_least_one(name: str, value: Any) -> int:
    count = as_int(name, value)
    if count < 1:
        raise ValueError(f"{name} = {count}: must be at least 1")
    return count


# --- SALib ----------------------------------------------------------------------------------------


def _salib() -> Any:
    try:
        import SALib.analyze.morris
        import SALib.analyze.sobol
        import SALib.sample.morris
        import SALib.sample.sobol
    except ModuleNotFoundError as error:
        raise ValueError(f"sensitivity needs the extra `sensitivity`: {error}") from None
    return SALib


def _problem(priors: Sequence[CostPrior], bounds: tuple[float, float]) -> dict[str, Any]:
    """In quantiles, which are uniform."""
    names = [prior.name for prior in priors]
    return {"num_vars": len(names), "names": names, "bounds": [list(bounds)] * len(names)}


def _screened(
    asked: _Asked, priors: Sequence[CostPrior], seed: int, progress: Progress
) -> dict[str, tuple[float, float]]:
    """mu* and sigma by name."""
    salib = _salib()
    problem = _problem(priors, SCREENED)
    at = salib.sample.morris.sample(problem, TRAJECTORIES, num_levels=LEVELS, seed=seed)
    values = asked.values(priors, at, progress)
    found = salib.analyze.morris.analyze(problem, at, values, num_levels=LEVELS, seed=seed)
    pairs = zip(map(float, found["mu_star"]), map(float, found["sigma"]), strict=True)
    return dict(zip(problem["names"], pairs, strict=True))


_Indices = tuple[float, float, float, float]


def _indices(
    asked: _Asked, priors: Sequence[CostPrior], n: int, seed: int, progress: Progress
) -> tuple[dict[str, _Indices], NDArray[np.float64]]:
    """First and total order with their errors by name, and the results that they are of."""
    if not priors:
        return {}, asked.values([], np.zeros((1, 0)), progress)
    salib = _salib()
    problem = _problem(priors, DRAWN)
    at = salib.sample.sobol.sample(problem, n, calc_second_order=False, seed=seed)
    values = asked.values(priors, at, progress)
    found = salib.analyze.sobol.analyze(problem, values, calc_second_order=False, seed=seed)
    columns = (map(float, found[name]) for name in ("S1", "S1_conf", "ST", "ST_conf"))
    return dict(zip(problem["names"], zip(*columns, strict=True), strict=True)), values


def _influence(name: str, effect: tuple[float, float], indices: _Indices | None) -> Influence:
    numbers = (*effect, *(indices or (0.0, 0.0, 0.0, 0.0)))
    return Influence(name, *map(six_digits, numbers))
