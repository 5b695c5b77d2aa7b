"""The command `vringlab`."""

import json
import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from vringlab import compare, cost_rows, run, run_many, version
from vringlab.bench_cli import bench_command, profile_command
from vringlab.gate_cli import gate
from vringlab.host_cli import measure_host_command
from vringlab.reproduce import VALIDATION, Outcome, chosen, combine, reproduce
from vringlab.settings import Settings, scenario_of
from vringlab.sweeps.cli import sweep_command
from vringlab.sweeps.files import SweepError
from vringlab.trace_cli import trace_command
from vringlab.validate_cli import calibrate_command, sensitivity_command, validate_command

FAILED, BAD_INPUT, INTERRUPTED = 1, 2, 130

app = typer.Typer(
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    no_args_is_help=False,
)
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@app.callback(invoke_without_command=True)
def root(
    context: typer.Context,
    show_version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    """A laboratory for virtio and vhost data paths. All figures are simulated, but for those of
    measure-host, profile, bench and the instructions and wall times of gate."""
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
app.command("validate")(validate_command)
app.command("calibrate")(calibrate_command)
app.command("sensitivity")(sensitivity_command)


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


app.add_typer(gate, name="gate")
app.command("validate")(validate_command)
app.command("calibrate")(calibrate_command)
app.command("sensitivity")(sensitivity_command)
app.command("trace")(trace_command)
app.command("profile")(profile_command)
app.command("bench", context_settings={"allow_extra_args": True, "ignore_unknown_options": True})(
    bench_command
)
app.command("measure-host")(measure_host_command)


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
