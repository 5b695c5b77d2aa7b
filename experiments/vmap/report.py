"""What is printed."""

from collections.abc import Mapping, Sequence

from rich.console import Console
from rich.table import Table
from vringlab import Gain
from vringlab.validation import Row


def print_report(rows: Sequence[Row], alone: Gain) -> None:
    console = Console(highlight=False)
    console.print(_table(rows))
    console.print(_answer({row.published.id: row for row in rows}))
    outside = [r.published.id for r in rows if not r.low <= r.published.value <= r.high]
    console.print(f"Published values outside the interval: {', '.join(outside) or 'none'}.")
    console.print(
        "Used elements are written 64 at a time, as one block under both plans. Written one by "
        f"one, a block would gain {alone.percent:+.1f} % over two words."
    )


def _table(rows: Sequence[Row]) -> Table:
    title = "Direct access to ring metadata, Mpps; rows with a * were fitted"
    table = Table(title=title, title_justify="left", box=None, padding=(0, 1, 0, 0))
    table.add_column("row", no_wrap=True)
    for column in ("published", "simulated", "90 %", "error", "unmodelled"):
        table.add_column(column, justify="right", no_wrap=True)
    for row in rows:
        table.add_row(*_cells(row))
    return table


def _cells(row: Row) -> tuple[str, ...]:
    in_percent = row.published.unit == "%"
    error = row.predicted - row.published.value if in_percent else row.error_percent
    share = row.unmodelled_share
    return (
        row.published.id + ("*" if row.published.use == "calibrate" else ""),
        f"{row.published.value:.1f}" + (" %" if in_percent else ""),
        f"{row.predicted:.2f}",
        f"{row.low:.2f} to {row.high:.2f}",
        f"{error:+.1f}" if in_percent else f"{error:+.1f} %",
        "" if share is None else f"{100 * share:.0f} %",
    )


def _answer(rows: Mapping[str, Row]) -> str:
    """One sentence for who asks what direct access gains."""
    on, off = (_gain(rows, f"vmap2019.smap_{state}", state) for state in ("on", "off"))
    return f"Simulated on a Broadwell of 2.6 GHz, direct access gains {on}, and {off}."


def _gain(rows: Mapping[str, Row], name: str, smap: str) -> str:
    before, after = rows[f"{name}.before"], rows[f"{name}.after"]
    simulated = _change(before.predicted, after.predicted)
    published = _change(before.published.value, after.published.value)
    return f"{simulated} Mpps, with SMAP {smap} (published: {published})"


def _change(before: float, after: float) -> str:
    return f"{100 * (after / before - 1):.0f} %, {before:.3g} to {after:.3g}"
