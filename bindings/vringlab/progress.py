"""How a run says how far it is."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Report = Callable[[int, int], object]
"""Called with the packets done and the packets in all."""
Progress = Report | bool | None
"""None: a bar on a terminal if it takes long; True: a bar; False: nothing; or a function."""

_PATIENCE_SECONDS = 0.5


@contextmanager
def reporting(
    progress: Progress, total: int, *, unit: str = "", done: int = 0
) -> Iterator[Callable[[int], object]]:
    """Yields a function to be called with the packets done.

    unit: what is counted if it isn't packets; the bar then shows how many are done in a second.
    done: how many were before, and say nothing about the rate.
    """
    if progress is None or progress is True:
        patience_seconds = 0 if progress else _PATIENCE_SECONDS
        with _bar(total, patience_seconds, unit, done) as report:
            yield report
    elif progress is False:
        yield lambda done: None
    elif callable(progress):
        yield lambda done: progress(done, total)
    else:
        raise TypeError(f"progress must be None, a bool or a function, not {progress!r:.80}")


@contextmanager
def _bar(
    total: int, patience_seconds: float, unit: str, before: int
) -> Iterator[Callable[[int], object]]:
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        Progress,
        ProgressColumn,
        TaskProgressColumn,
        TextColumn,
        TimeRemainingColumn,
    )

    console = Console(stderr=True)
    columns: list[ProgressColumn] = [TextColumn("simulating"), BarColumn(), TaskProgressColumn()]
    rate = [TextColumn("{task.completed} of {task.total} {task.fields[rate]}")] if unit else []
    columns += [*rate, TimeRemainingColumn()]
    bar = Progress(*columns, console=console, transient=console.is_terminal)
    start = time.monotonic()
    task = bar.add_task("", total=total, completed=before, rate=unit)
    wanted = console.is_terminal or patience_seconds == 0

    def report(done: int) -> None:
        if wanted and time.monotonic() - start >= patience_seconds:
            bar.start()
            bar.update(task, completed=done, rate=_rate(unit, done - before, start))

    try:
        yield report
    finally:
        # A bar that never started would print an empty line.
        if bar.live.is_started:
            bar.stop()


def _rate(unit: str, done: int, start: float) -> str:
    seconds = time.monotonic() - start
    return f"{unit}, {done / seconds:.3g} a second" if done and seconds else unit
