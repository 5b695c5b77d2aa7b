"""The command `vringlab`."""

import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import Annotated, Any

import typer

from vringlab import AccessPlan, Blk, Scenario, compare, cost_rows, run, run_many, version
from vringlab.bench import find_executable, run_benchmarks
from vringlab.reproduce import VALIDATION, Outcome, chosen, combine, reproduce
from vringlab.sweeps.cli import sweep_command
from vringlab.sweeps.files import SweepError

FAILED, BAD_INPUT, INTERRUPTED = 1, 2, 130

app = typer.Typer(
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    no_args_is_help=False,
)
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="FIELD=VALUE",
        help="A field of the scenario, as in packets=1000, plan=vmap, plan.guard=atomic, "
        "plan.mapped=desc,used, blk.disk=ram, costs.access_ok=3. May be repeated.",
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@app.callback(invoke_without_command=True)
def root(
    context: typer.Context,
    show_version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    """A laboratory for virtio and vhost data paths. All figures are simulated."""
    if show_version:
        print(version)
    elif context.invoked_subcommand is None:
        print(context.get_help())


@app.command("run")
def run_command(settings: Settings = None, as_json: AsJson = False) -> None:
    """Simulate one scenario."""
    result = run(scenario_of(settings or []))
    print(json.dumps(result.to_dict(), indent=2) if as_json else result.summary())


@app.command("compare")
def compare_command(
    settings: Settings = None,
    only_a: Annotated[
        list[str] | None, typer.Option("--a", metavar="FIELD=VALUE", help="Only of scenario a.")
    ] = None,
    only_b: Annotated[
        list[str] | None, typer.Option("--b", metavar="FIELD=VALUE", help="Only of scenario b.")
    ] = None,
    core: Annotated[str, typer.Option(help="guest or worker.")] = "worker",
) -> None:
    """Compare two scenarios; without --a and --b, user access with a mapped ring."""
    if not only_a and not only_b:
        only_a, only_b = ["plan=user"], ["plan=vmap"]
    sides = [scenario_of([*(settings or []), *(only or [])]) for only in (only_a, only_b)]
    print(compare(*run_many(sides), core=core).summary())


app.command("sweep")(sweep_command)


@app.command()
def costs(as_json: AsJson = False) -> None:
    """List the cost rows with their ranges and sources."""
    if as_json:
        print(json.dumps([asdict(row) for row in cost_rows()], indent=2))
        return
    for row in cost_rows():
        values = f"{row.low:>9g} {row.best:>9g} {row.high:>9g} {row.unit:9}"
        print(f"{row.name:32} {values} {row.evidence}; {row.source or row.cpu}")


@app.command("reproduce")
def reproduce_command(
    check: Annotated[
        bool, typer.Option("--check", help="Write nothing; say what would differ.")
    ] = False,
    only: Annotated[
        list[str] | None, typer.Option("--only", metavar="NAME", help="Only this experiment.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", help="Folder of results, by default ./results.")
    ] = None,
) -> None:
    """Run the experiments and write their results."""
    folder = results_folder(out)
    names = chosen(only or [])
    outcomes = [_reported(name, folder, check) for name in names]
    if not names:
        print("there are no experiments")
    else:
        outcomes.append(_reported(VALIDATION, folder, check))
    if any(outcome.problems for outcome in outcomes):
        raise typer.Exit(FAILED)


@app.command(context_settings={"allow_extra_args": True, "ignore_unknown_options": True})
def bench(context: typer.Context) -> None:
    """Run the C++ benchmarks of a checkout; further arguments are Google Benchmark's."""
    rows = run_benchmarks(find_executable(Path()), context.args)
    for row in rows:
        verdict = "met" if row.met else "MISSED"
        print(
            f"{row.benchmark:48} {row.value:>10.4g} {row.counter:14} goal {row.goal:g}: {verdict}"
        )
    if not all(row.met for row in rows):
        raise typer.Exit(FAILED)


def results_folder(out: Path | None) -> Path:
    """Where results are written."""
    if out is None and not Path("results").is_dir():
        raise ValueError("there is no folder results/ here: say where to write with --out")
    return out or Path("results")


def _reported(name: str, folder: Path, check: bool) -> Outcome:
    print(f"{name} ...", flush=True)
    if name == VALIDATION:
        outcome = combine(folder, check=check)
    else:
        outcome = reproduce(name, folder, check=check)
    done = "reproduced" if check else f"written to {folder / name}"
    print(f"{name}: {'FAILED' if outcome.problems else done}, {outcome.seconds:.1f} s")
    for problem in outcome.problems:
        print(f"  {problem}")
    return outcome


# --- settings -------------------------------------------------------------------------------------


def scenario_of(settings: Sequence[str]) -> Scenario:
    """The scenario with these FIELD=VALUE settings, a later one over an earlier one.

    >>> scenario_of(["packets=1000", "plan=vmap", "plan.guard=none", "costs.access_ok=3"])
    Scenario(costs={'access_ok': 3.0}, packets=1000, plan=AccessPlan.vmap("none"))
    >>> scenario_of(["workload=blk", "blk.disk=ram", "blk.queue_depth=1"])
    Scenario(workload='blk', blk=Blk(disk='ram', queue_depth=1))
    """
    scenario = Scenario()
    values: dict[str, Any] = {}
    plan: dict[str, Any] = {}
    blk: dict[str, Any] = {}
    costs: dict[str, float] = {}
    for setting in settings:
        field, equals, text = setting.partition("=")
        if not equals:
            raise ValueError(f'setting = "{setting}": must be FIELD=VALUE')
        group, _, member = field.partition(".")
        if group == "costs" and member:
            costs[member] = _parsed(field, text, float)
        elif group == "blk" and member:
            blk[member] = _blk_value(member, text)
        elif group == "plan":
            plan |= _plan_fields(member, text)
        else:
            values[field] = _value(field, text)
    return scenario.replace(**values, plan=AccessPlan(**plan), blk=Blk(**blk), costs=costs)


def _blk_value(member: str, text: str) -> Any:
    types = {f.name: f.type for f in fields(Blk)}
    if member not in types:
        raise ValueError(f"blk.{member}: must be one of {', '.join(types)}")
    return _parsed(f"blk.{member}", text, _PARSERS[types[member]])


def _value(field: str, text: str) -> Any:
    types = {f.name: f.type for f in fields(Scenario) if f.type in _PARSERS}
    if field not in types:
        raise ValueError(
            f'setting = "{field}": must be one of {", ".join(types)}, plan, blk.FIELD, costs.ROW'
        )
    return _parsed(field, text, _PARSERS[types[field]])


def _plan_fields(member: str, text: str) -> dict[str, Any]:
    if not member:
        if text not in _PLANS:
            raise ValueError(f'plan = "{text}": must be one of {", ".join(_PLANS)}')
        return _PLANS[text]().to_dict()
    if member not in AccessPlan.__dataclass_fields__:
        known = ", ".join(AccessPlan.__dataclass_fields__)
        raise ValueError(f"plan.{member}: must be one of {known}")
    return {member: [name for name in text.split(",") if name] if member == "mapped" else text}


def _boolean(text: str) -> bool:
    return {"true": True, "false": False, "1": True, "0": False}[text.lower()]


def _parsed(field: str, text: str, parser: Callable[[str], Any]) -> Any:
    try:
        return parser(text)
    except (ValueError, KeyError):
        name = {_boolean: "true or false", int: "a whole number"}.get(parser, "a number")
        raise ValueError(f'{field} = "{text}": must be {name}') from None


_PARSERS: dict[Any, Callable[[str], Any]] = {bool: _boolean, int: int, float: float, str: str}
_PLANS = {"user": AccessPlan.user, "vmap": AccessPlan.vmap}


# --- errors ---------------------------------------------------------------------------------------


def main() -> None:
    """Entry point. Ends with 0, 1: a check failed, 2: bad input, 130: interrupted."""
    sys.exit(_status(lambda: app(standalone_mode=False)))


def _status(call: Callable[[], Any]) -> int:
    try:
        status = call()
        if status == INTERRUPTED:  # what newer versions of the parser make of Ctrl-C
            raise KeyboardInterrupt
    except (KeyboardInterrupt, typer.Abort):
        return _fail("interrupted", INTERRUPTED)
    except (ValueError, OSError, SweepError) as error:
        return _fail(_one_line(error), BAD_INPUT)
    except Exception as error:
        # The parser's own errors have no base class that all its versions export.
        if not hasattr(error, "format_message"):
            raise
        return _fail(error.format_message(), BAD_INPUT)
    return status if isinstance(status, int) else 0


def _fail(message: str, status: int) -> int:
    print(f"vringlab: {message}", file=sys.stderr)
    return status


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())
