"""The commands `vringlab validate`, `calibrate` and `sensitivity`."""

import importlib
from pathlib import Path
from typing import Annotated

import typer

from vringlab.fitting import BETWEEN_HOSTS, calibrate
from vringlab.influence import METRICS, next_measurement
from vringlab.measurements import validate_measurements
from vringlab.prediction import predict_points
from vringlab.published import load_published
from vringlab.scoreboard import validate, write_validation
from vringlab.settings import Settings, scenario_of


def validate_command(
    system: Annotated[
        str | None, typer.Option("--system", metavar="NAME", help="Only the rows of this system.")
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option("--data", metavar="FILE", help="Measurements of your own instead, as CSV."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", help="Folder to write the scoreboard to.")
    ] = None,
) -> None:
    """Predict every published row anew and say how good that is."""
    if data is not None and system is not None:
        raise ValueError("--system: not with --data, whose rows are all predicted")
    found = validate(system) if data is None else validate_measurements(data)
    print(found.report())
    if out is not None:
        write_validation(out, found, "vringlab validate")
        print(f"written to {out}")


def calibrate_command(
    leave_out: Annotated[
        str | None,
        typer.Option("--leave-out", metavar="SOURCE", help="Fit without this source's rows."),
    ] = None,
    draws: Annotated[int, typer.Option("--draws", help="Of the posterior, for predictions.")] = 100,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="Where to write the fit, as JSON.")
    ] = None,
) -> None:
    """Fit cost rows to all published rows that may be fitted, together. Takes minutes."""
    base = importlib.import_module("vringlab.experiments.calibration.base")
    published = load_published()
    points, sources = base.joint_points(published), base.sources(published)
    known = list(dict.fromkeys(sources[point.id] for point in points))
    if leave_out is not None and leave_out not in known:
        raise ValueError(f'--leave-out = "{leave_out}": must be one of {", ".join(known)}')
    kept = [point for point in points if sources[point.id] != leave_out]
    fit = calibrate(kept, between_hosts=BETWEEN_HOSTS, draws=draws, seed=base.SEED)
    print(fit.summary())
    for found in predict_points([point for point in points if point not in kept], fit):
        rates = f"{found.predicted:.5g}, {found.low:.5g} to {found.high:.5g}"
        print(f"left out: {found.point.id}: {found.point.rate_pps:.5g} a second, simulated {rates}")
    if out is not None:
        out.write_text(fit.to_json(), encoding="utf-8")


def sensitivity_command(
    settings: Settings = None,
    base: Annotated[
        list[str] | None,
        typer.Option("--base", metavar="FIELD=VALUE", help="Of the scenario that a gain is over."),
    ] = None,
    metric: Annotated[str, typer.Option(help=f"One of {', '.join(METRICS)}.")] = "rate_pps",
    cost: Annotated[
        list[str] | None, typer.Option("--cost", metavar="ROW", help="Only these cost rows.")
    ] = None,
    n: Annotated[int, typer.Option("--n", help="Samples of the indices, a power of two.")] = 128,
    seed: Annotated[int, typer.Option("--seed")] = 1,
) -> None:
    """Say which cost rows a result, or a gain over --base, hangs on, and what to measure next."""
    over = scenario_of([*(settings or []), *base]) if base else None
    asked = scenario_of(settings or [])
    found = next_measurement(asked, base=over, costs=cost, metric=metric, n=n, seed=seed)
    print(found.sensitivity.summary())
    known = f"{found.low:g} to {found.high:g} {found.unit}" + f", {found.evidence}" * bool(
        found.evidence
    )
    share = 100 * found.variance_share
    print(f"measure next: {found.name} ({known}): {share:.0f} % of the variance would go")
