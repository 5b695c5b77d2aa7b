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
def reporting(progress: Progress, total: int) -> Iterator[Callable[[int], object]]:
    """Yields a function to be called with the packets done."""
    if progress is None or progress is True:
        with _bar(total, patience_seconds=0 if progress else _PATIENCE_SECONDS) as report:
            yield report
    elif progress is False:
        yield lambda done: None
    elif callable(progress):
        yield lambda done: progress(done, total)
    else:
        raise TypeError(f"progress must be None, a bool or a function, not {progress!r:.80}")


@contextmanager
def _bar(total: int, patience_seconds: float) -> Iterator[Callable[[int], object]]:
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        Progress,
        TaskProgressColumn,
        TextColumn,
        TimeRemainingColumn,
    )

    console = Console(stderr=True)
    columns = (TextColumn("simulating"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    bar = Progress(*columns, console=console, transient=console.is_terminal)
    task = bar.add_task("", total=total)
    start = time.monotonic()
    wanted = console.is_terminal or patience_seconds == 0

    def report(done: int) -> None:
        if wanted and time.monotonic() - start >= patience_seconds:
            bar.start()
            bar.update(task, completed=done)

    try:
        yield report
    finally:
        # A bar that never started would print an empty line.
        if bar.live.is_started:
            bar.stop()
