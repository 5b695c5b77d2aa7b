"""The command `vringlab trace`."""

from pathlib import Path
from typing import Annotated

import typer

from vringlab.flame import flame_svg
from vringlab.settings import Settings, scenario_of
from vringlab.tracing import trace

SHORT_RUN = "packets=1000"


def trace_command(
    settings: Settings = None,
    out: Annotated[
        Path, typer.Option("--out", help="Chrome/Perfetto JSON, for ui.perfetto.dev.")
    ] = Path("trace.json"),
    folded: Annotated[
        Path | None, typer.Option("--folded", help="Folded stacks as well: core;step;cost ps.")
    ] = None,
    flame: Annotated[
        Path | None, typer.Option("--flame", help="A flame graph of them as well, SVG.")
    ] = None,
) -> None:
    """Record a short simulated run, of 1000 packets unless set: what each core does, and when."""
    recorded = trace(scenario_of([SHORT_RUN, *(settings or [])]))
    recorded.write_chrome(out)
    if folded is not None:
        recorded.write_folded(folded)
    if flame is not None:
        title = f"simulated, {recorded.result.scenario!r:.100}"
        flame.write_text(flame_svg(recorded.folded(), title=title, unit="ps"), encoding="utf-8")
    print(f"{out}: {recorded!r}")
