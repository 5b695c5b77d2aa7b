"""The command `vringlab measure-host`."""

from pathlib import Path
from typing import Annotated

import typer

from vringlab.host_file import HostFile, write_host
from vringlab.measure_host import measure_host


def measure_host_command(
    out: Annotated[Path, typer.Option("--out", help="The file to write.")] = Path("host.json"),
    repetitions: Annotated[
        int, typer.Option("--repetitions", help="Readings of each operation.")
    ] = 51,
    folder: Annotated[
        Path | None,
        typer.Option("--folder", help="Where a file may lie, for the page cache."),
    ] = None,
) -> None:
    """Measure what operations cost on this host, for Scenario(costs=host_costs(FILE))."""
    host = measure_host(repetitions=repetitions, folder=folder)
    write_host(out, host)
    print("\n".join([*_lines(host), f"{out}: {len(host.rows)} rows, measured on this machine"]))


def _lines(host: HostFile) -> list[str]:
    virtual = ", under a hypervisor" if host.virtual else ""
    rows = [
        f"{r.name:24} {r.low:>10.4g} {r.best:>10.4g} {r.high:>10.4g} {r.unit:9} "
        f"{', '.join(r.costs)}".rstrip()
        for r in host.rows
    ]
    missing = [f"{name:24} not measured: {why}" for name, why in host.missing.items()]
    return [f"{host.cpu}, Linux {host.kernel}{virtual}", f"cycles: {host.cycles}", *rows, *missing]
