"""The commands `vringlab bench` and `vringlab profile`."""

from pathlib import Path
from typing import Annotated

import typer

from vringlab.bench import find_executable, run_benchmarks
from vringlab.bench_counters import against, counted
from vringlab.flame import flame_svg, write_folded
from vringlab.profile import profile
from vringlab.settings import Settings, scenario_of

FAILED = 1


def bench_command(
    context: typer.Context,
    counters: Annotated[
        bool,
        typer.Option(
            "--counters",
            help="Instructions an iteration, by perf, or by callgrind, which takes fifty times as "
            "long: use --benchmark_filter.",
        ),
    ] = False,
    other: Annotated[
        Path | None,
        typer.Option("--against", help="Another build's vringlab_bench, to run in turns with."),
    ] = None,
    rounds: Annotated[int, typer.Option("--rounds", help="Pairs of runs of --against.")] = 20,
) -> None:
    """Run the C++ benchmarks of a checkout; further arguments are Google Benchmark's."""
    executable = find_executable(Path())
    if counters:
        _print_counts(executable, context.args)
    elif other is not None:
        _compare(executable, other, context.args, rounds)
    else:
        _hold_to_goals(executable, context.args)


def _hold_to_goals(executable: Path, arguments: list[str]) -> None:
    rows = run_benchmarks(executable, arguments)
    for row in rows:
        verdict = "met" if row.met else "MISSED"
        print(
            f"{row.benchmark:48} {row.value:>10.4g} {row.counter:14} goal {row.goal:g}: {verdict}"
        )
    if not all(row.met for row in rows):
        raise typer.Exit(FAILED)


def _print_counts(executable: Path, arguments: list[str]) -> None:
    for row in counted(executable, arguments):
        what = f"{row.instructions:>14.1f} instructions an iteration, by {row.by}"
        print(f"{row.benchmark:48} {what}", flush=True)


def _compare(executable: Path, other: Path, arguments: list[str], rounds: int) -> None:
    if not other.is_file():
        raise FileNotFoundError(f"{other}: no such benchmarks")
    rows = []
    for row in against(executable, other, arguments, rounds=rounds):
        verdict = "SLOWER" if row.slower else "not slower"
        change = f"{100 * (row.test.ratio - 1):>+8.1f} %, p = {row.test.p:<8.2g}"
        print(f"{row.benchmark:48} {change} {verdict}", flush=True)
        rows.append(row)
    if not rows:
        raise ValueError(f"{other}: has none of these benchmarks")
    if any(row.slower for row in rows):
        raise typer.Exit(FAILED)


def profile_command(
    settings: Settings = None,
    out: Annotated[Path, typer.Option("--out", help="The flame graph, SVG.")] = Path("flame.svg"),
    folded: Annotated[Path | None, typer.Option("--folded", help="Folded stacks as well.")] = None,
    tool: Annotated[str, typer.Option("--tool", help="auto, perf or callgrind.")] = "auto",
) -> None:
    """Draw where the simulator itself spends its time, as a flame graph."""
    scenario = scenario_of(settings or [])
    result = profile(scenario, tool=tool)
    title = f"the simulator's own {result.unit} by {result.tool}: {scenario!r:.80}"
    out.write_text(flame_svg(result.stacks, title=title, unit=result.unit), encoding="utf-8")
    if folded is not None:
        write_folded(folded, result.stacks)
    print(f"{out}: {sum(result.stacks.values())} {result.unit} by {result.tool}; {result.note}")
