"""The tables beside posterior.csv, and report.md."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from statistics import median

from vringlab import BETWEEN_HOSTS, Calibration, PredictedPoint, version
from vringlab.model_error import MODEL_SIGMA, model_sigma, widened
from vringlab.results import write_table

LEFT_OUT = ("source", "id", "published", "predicted", "low", "high", "error_percent", "inside")
POINTS = ("source", "id", "published", "fitted", "relative_sigma", "residual_sigmas")
NARROWED = 0.8
"""Of the prior's standard deviation: below it the data say much about a row."""

LeftOut = Mapping[str, Sequence[PredictedPoint]]


def write_correlations(path: Path, fit: Calibration) -> None:
    """Pairs of parameters that the data tell only together, the strongest first."""
    write_table(path, ("a", "b", "correlation"), fit.unresolved().pairs)


def write_points(path: Path, fit: Calibration, sources: Mapping[str, str]) -> None:
    """What was fitted, per second, and what the fit makes of it."""
    rows = [
        (sources[p.id], p.id, p.rate_pps, p.predicted_pps, p.relative_sigma, p.residual)
        for p in fit.points
    ]
    write_table(path, POINTS, rows)


def write_left_out(path: Path, left_out: LeftOut) -> None:
    """Each source's rates, per second, predicted from the others."""
    rows = [
        (source, p.point.id, p.point.rate_pps, p.predicted, p.low, p.high, p.error_percent, inside)
        for source, found in left_out.items()
        for p in found
        for inside in ("yes" if p.inside else "no",)
    ]
    write_table(path, LEFT_OUT, rows)


def report(fit: Calibration, left_out: LeftOut) -> str:
    """What the rates of all sources say together."""
    return "".join(
        [*_head(fit), *_shared(fit), *_narrowed(fit), *_unresolved(fit), *_out(left_out)]
    )


def _head(fit: Calibration) -> Iterable[str]:
    yield f"# All rates that may be fitted, together\n\nSimulated by vringlab {version}. "
    yield f"{len(fit.points)} published rates, {len(fit.names)} parameters; "
    worst = max(fit.points, key=lambda p: abs(p.residual))
    yield f"the worst fitted is {worst.id}, by {worst.residual:+.1f} standard deviations.\n"


def _shared(fit: Calibration) -> Iterable[str]:
    yield "\n## What no row explains, in ns\n\nShared by hosts but for a factor between "
    yield f"1/{BETWEEN_HOSTS:g} and {BETWEEN_HOSTS:g} (5-95 %).\n\n"
    yield "| row | shared | 5 to 95 % | factors of hosts |\n|---|---|---|---|\n"
    values = dict(zip(fit.names, fit.values, strict=True))
    for name, value in values.items():
        if not name.startswith("unmodelled.") or "*" in name:
            continue
        own = {n.partition("*")[2]: v for n, v in values.items() if n.startswith(f"{name}*")}
        factors = ", ".join(f"{host} {factor:.2f}" for host, factor in own.items())
        low, high = fit.posterior_range(name)
        yield f"| {name} | {value:.3g} | {low:.3g} to {high:.3g} | {factors} |\n"


def _narrowed(fit: Calibration) -> Iterable[str]:
    yield "\n## What the rates narrow most\n\n| parameter | fitted | 5 to 95 % | was | "
    yield "share of the prior's deviation |\n|---|---|---|---|---|\n"
    priors = {prior.name: prior for prior in fit.priors}
    values = dict(zip(fit.names, fit.values, strict=True))
    for name, share in sorted(fit.shrinkage.items(), key=lambda item: item[1]):
        if share < NARROWED:
            low, high = fit.posterior_range(name)
            was = f"{priors[name].low:.3g} to {priors[name].high:.3g}"
            now = f"{values[name]:.3g} | {low:.3g} to {high:.3g}"
            yield f"| {name} | {now} | {was} | {share:.2f} |\n"


def _unresolved(fit: Calibration) -> Iterable[str]:
    found = fit.unresolved()
    yield "\n## What they cannot tell\n\n"
    yield f"{len(found.parameters)} of {len(fit.names)} parameters are hardly narrowed "
    yield "(`posterior.csv`). Told only together:\n\n"
    yield from (f"- {a} and {b}: correlation {c:+.2f}\n" for a, b, c in found.pairs)
    if not found.pairs:
        yield "- none\n"


def _out(left_out: LeftOut) -> Iterable[str]:
    yield "\n## One source left out\n\nPredicted from the others, per second:\n\n"
    yield "| source | row | published | simulated | 90 % | error | |\n"
    yield "|---|---|---|---|---|---|---|\n"
    for source, found in left_out.items():
        for p in found:
            interval = f"{p.low:.4g} to {p.high:.4g}"
            inside = "inside" if p.inside else "outside"
            cells = f"{p.point.rate_pps:.4g} | {p.predicted:.4g} | {interval}"
            yield f"| {source} | {p.point.id} | {cells} | {p.error_percent:+.0f} % | {inside} |\n"
    points = [p for found in left_out.values() for p in found]
    inside_ = sum(p.inside for p in points)
    error = median(abs(p.error_percent) for p in points)
    yield f"\nMedian error {error:.0f} %; {inside_} of {len(points)} are inside.\n"
    found_ = model_sigma((p.point.rate_pps, p.low, p.high) for p in points)
    wider = sum(_in_wider(p) for p in points)
    yield "\nBeyond what rows and noise explain the model is most likely off by "
    yield f"{100 * found_:.1f} % (standard deviation of ln rate). With {100 * MODEL_SIGMA:.0f} % "
    yield f"besides, {wider} of {len(points)} are inside. The scoreboard has intervals without and "
    yield "with it.\n"


def _in_wider(p: PredictedPoint) -> bool:
    low, high = widened(p.low, p.predicted, p.high, MODEL_SIGMA)
    return low <= p.point.rate_pps <= high
