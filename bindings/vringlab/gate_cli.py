"""The commands `vringlab gate record` and `vringlab gate check`."""

from pathlib import Path
from typing import Annotated

import typer

from vringlab.callgrind import CrashedError, UnmeasurableError
from vringlab.gate_file import write_gate_file
from vringlab.gate_report import junit, markdown, table
from vringlab.gates import (
    Check,
    GateStatus,
    check_instructions,
    check_simulated,
    check_wall,
    chosen_scenarios,
    record,
    recorded,
    status_of,
)
from vringlab.measuring import build_at, this_build
from vringlab.settings import Settings, scenario_of

gate = typer.Typer(
    no_args_is_help=True,
    help="Hold a build to what was recorded: simulated results, instructions, wall time. Ends "
    "with 0: passed, 1: regression, 2: bad input, 3: nothing run, 4: no baseline, 5: crash, "
    "6: not measurable here.",
)
File = Annotated[Path, typer.Option("--file", help="The gate file.")]
Only = Annotated[
    list[str] | None, typer.Option("--only", metavar="NAME", help="Only this scenario.")
]
Instructions = Annotated[
    bool,
    typer.Option("--instructions/--no-instructions", help="Count instructions by callgrind."),
]
DEFAULT_FILE = Path("gate.json")


@gate.command("record")
def record_command(
    file: File = DEFAULT_FILE,
    only: Only = None,
    add: Annotated[
        str | None, typer.Option("--add", metavar="NAME", help="A new scenario, of --set.")
    ] = None,
    settings: Settings = None,
    instructions: Instructions = True,
) -> None:
    """Write down what the scenarios come to now; without a file, of one a workload."""
    old = recorded(file)
    if settings and add is None:
        raise ValueError("--set: needs --add NAME")
    if add is not None:
        scenarios = {add: scenario_of(settings or [])}
    else:
        scenarios = chosen_scenarios(old, only or [])
    try:
        new = record(this_build(), scenarios.items(), old, instructions=instructions)
    except CrashedError as error:
        raise typer.Exit(_said(error, GateStatus.CRASH)) from None
    except UnmeasurableError as error:
        raise typer.Exit(_said(error, GateStatus.UNMEASURABLE)) from None
    write_gate_file(file, new)
    print(f"{file}: {len(scenarios)} scenarios recorded")


@gate.command("check")
def check_command(
    file: File = DEFAULT_FILE,
    only: Only = None,
    instructions: Instructions = True,
    against: Annotated[
        Path | None,
        typer.Option(
            "--against",
            help="Compare wall time with this build as well: a folder with a module _native.",
        ),
    ] = None,
    rounds: Annotated[int, typer.Option("--rounds", help="Pairs of runs of --against.")] = 20,
    junit_file: Annotated[Path | None, typer.Option("--junit", help="Write JUnit XML.")] = None,
    markdown_file: Annotated[
        Path | None, typer.Option("--markdown", help="Append a summary in markdown.")
    ] = None,
) -> None:
    """Hold this build to the gate file."""
    if not file.exists():
        error = f"{file}: no such file: `vringlab gate record` writes it"
        raise typer.Exit(_said(error, GateStatus.MISSING_BASELINE))
    checks = _checks(file, only or [], instructions, against, rounds)
    print(table(checks))
    if junit_file is not None:
        junit_file.write_text(junit(checks), encoding="utf-8")
    if markdown_file is not None:
        with markdown_file.open("a", encoding="utf-8") as out:
            out.write(markdown(checks))
    raise typer.Exit(status_of(checks))


def _checks(
    file: Path, only: list[str], instructions: bool, against: Path | None, rounds: int
) -> list[Check]:
    baseline, build = recorded(file), this_build()
    other = None if against is None else build_at(against)
    scenarios = chosen_scenarios(baseline, only)
    checks = [
        check_simulated(build, name, scenario, baseline.metrics.get(name, {}))
        for name, scenario in scenarios.items()
    ]
    if instructions and scenarios:
        checks += check_instructions(build, scenarios, baseline)
    if other is not None:
        checks += [check_wall(build, other, n, s, rounds=rounds) for n, s in scenarios.items()]
    return checks


def _said(error: object, status: GateStatus) -> int:
    typer.echo(f"vringlab: {error}", err=True)
    return status
