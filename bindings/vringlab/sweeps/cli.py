"""The command `vringlab sweep`."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from vringlab.sweeps.axes import Range, check_name, kind_of
from vringlab.sweeps.result import SweepResult
from vringlab.sweeps.sweep import sweep

FAILED = 1
_SHOWN_ERRORS = 10

Over = Annotated[
    list[str],
    typer.Option(
        "--over",
        metavar="FIELD=VALUES",
        help="An axis: batch=1,8,64, plan=user,vmap, plan.mapped=desc+used,avail, or, where it is "
        "drawn, costs.smp_mb=10:40 or packet_bytes=64:1500:log. May be repeated.",
    ),
]
When = Annotated[
    list[str] | None,
    typer.Option(
        "--when",
        metavar="AXIS:FIELD=VALUES",
        help="The axis takes part only where the field has one of these values, as in "
        "plan.guard:plan=vmap. May be repeated.",
    ),
]


def sweep_command(
    over: Over,
    out: Annotated[Path, typer.Option(help="Folder of the results; it is gone on with.")],
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="FIELD=VALUE", help="A field of all points, as of run."),
    ] = None,
    method: Annotated[str, typer.Option(help="grid, random, lhs or sobol.")] = "grid",
    n: Annotated[int | None, typer.Option("--n", help="Draws, where it is no grid.")] = None,
    seed: Annotated[int, typer.Option(help="Of the draws.")] = 0,
    seeds: Annotated[
        str, typer.Option(metavar="S1,S2,...", help="Each point is run with each of these seeds.")
    ] = "",
    when: When = None,
    dask: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="Of a Dask scheduler, tcp://HOST:PORT.")
    ] = None,
    workers: Annotated[int | None, typer.Option(help="Points that run at once.")] = None,
    retry_failed: Annotated[
        bool, typer.Option("--retry-failed", help="Run points again that failed before.")
    ] = False,
) -> None:
    """Simulate many scenarios; what the folder has is not run again.

    Ends with 1 if a point failed.
    """
    from vringlab.settings import scenario_of

    results = sweep(
        scenario_of(settings or []),
        dict(axis_of(text, "over") for text in over),
        method=method,
        n=n,
        seed=seed,
        seeds=_list("seeds", seeds, int) if seeds else (),
        when=_conditions(when or []),
        out=out,
        executor=dask,
        workers=workers,
        retry_failed=retry_failed,
    )
    _report(results)
    if results.failed:
        raise typer.Exit(FAILED)


def _report(results: SweepResult) -> None:
    print(f"simulated {len(results)} points, {results.failed} failed: {results.path}")
    if results.failed:
        errors = results.errors()
        for key, message in errors[:_SHOWN_ERRORS]:
            print(f"  {key[:12]}: {message}")
        if len(errors) > _SHOWN_ERRORS:
            print(f"  and {len(errors) - _SHOWN_ERRORS} more")


def axis_of(text: str, what: str) -> tuple[str, Any]:
    """An axis and its values, from FIELD=VALUES.

    >>> axis_of("batch=1,8", "over")
    ('batch', [1, 8])
    >>> axis_of("costs.smp_mb=10:40:log", "over")
    ('costs.smp_mb', Range(low=10.0, high=40.0, log=True))
    >>> axis_of("plan.mapped=desc+used,avail", "over")
    ('plan.mapped', [['desc', 'used'], ['avail']])
    """
    name, equals, values = text.partition("=")
    if not equals or not values:
        raise ValueError(f'{what} = "{text}": must be FIELD=VALUES')
    check_name(f"{what}: axis", name)
    kind = kind_of(name)
    if name in ("blk", "costs"):
        raise ValueError(f'{what} = "{text}": must be a member of it, as in {name}.NAME')
    if kind in ("int", "float") and ":" in values:
        return name, _range(name, values, int if kind == "int" else float)
    parsers: dict[str, Callable[[str], Any]] = {"bool": _boolean, "int": int, "float": float}
    parser = _areas if name == "plan.mapped" else parsers.get(kind, str)
    return name, _list(name, values, parser)


def _conditions(texts: Sequence[str]) -> dict[str, dict[str, Any]]:
    conditions: dict[str, dict[str, Any]] = {}
    for text in texts:
        axis, colon, condition = text.partition(":")
        if not colon:
            raise ValueError(f'when = "{text}": must be AXIS:FIELD=VALUES')
        field, values = axis_of(condition, "when")
        conditions.setdefault(axis, {})[field] = values
    return conditions


def _range(name: str, text: str, parser: Callable[[str], Any]) -> Range:
    low, _, rest = text.partition(":")
    high, _, log = rest.partition(":")
    if log not in ("", "log"):
        raise ValueError(f'{name} = "{text}": must be LOW:HIGH or LOW:HIGH:log')
    (first,), (last,) = _list(name, low, parser), _list(name, high, parser)
    return Range(first, last, log == "log")


def _list(name: str, text: str, parser: Callable[[str], Any]) -> list[Any]:
    try:
        return [parser(value) for value in text.split(",")]
    except (ValueError, KeyError):
        kind = {_boolean: "true or false", int: "whole numbers"}.get(parser, "numbers")
        raise ValueError(f'{name} = "{text}": must be {kind}') from None


def _boolean(text: str) -> bool:
    return {"true": True, "false": False, "1": True, "0": False}[text.lower()]


def _areas(text: str) -> list[str]:
    return [area for area in text.split("+") if area]
