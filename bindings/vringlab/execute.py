"""Runs scenarios in threads without the GIL, so that they can be watched and interrupted."""

import os
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import FIRST_EXCEPTION, CancelledError, Future, ThreadPoolExecutor, wait
from typing import Any

from vringlab import _native
from vringlab._fields import as_int
from vringlab.progress import Progress, reporting
from vringlab.run_result import Result, from_native
from vringlab.scenario import Scenario, native_scenario

_TICK_SECONDS = 0.1


def run(scenario: Scenario, *, progress: Progress = None) -> Result:
    """Simulates `scenario`. Equal scenarios give equal results.

    progress: None shows a bar on a terminal once the run takes long; True always, False never; a
    function is called with the packets done and the packets in all, now and then and at the end.
    Ctrl-C ends the run.

    >>> run(Scenario(packets=1000)) == run(Scenario(packets=1000))
    True
    """
    return _run_all([as_scenario("scenario", scenario)], 1, progress)[0]


def run_many(
    scenarios: Iterable[Scenario], *, workers: int | None = None, progress: Progress = None
) -> list[Result]:
    """Simulates all of them, in `workers` threads (by default one a processor).

    The results are in the order of the scenarios and don't depend on `workers`.

    >>> [r.packets for r in run_many(Scenario(packets=n) for n in (1, 10))]
    [1, 10]
    """
    checked = [as_scenario(f"scenarios[{i}]", s) for i, s in enumerate(scenarios)]
    return _run_all(checked, _workers(workers), progress) if checked else []


def as_scenario(name: str, value: Any) -> Scenario:
    if not isinstance(value, Scenario):
        raise TypeError(f"{name} must be a Scenario, not {type(value).__name__}: {value!r:.80}")
    return value


def _workers(workers: Any) -> int:
    if workers is None:
        return len(os.sched_getaffinity(0))
    if as_int("workers", workers) < 1:
        raise ValueError(f"workers = {workers}: must be at least 1")
    return int(workers)


def _run_all(scenarios: Sequence[Scenario], workers: int, progress: Progress) -> list[Result]:
    controls = [_native.RunControl() for _ in scenarios]
    with ThreadPoolExecutor(min(workers, len(scenarios))) as pool:
        futures: list[Future[Result]] = []
        try:
            futures += map(pool.submit, [_run_one] * len(scenarios), scenarios, controls)
            with reporting(progress, sum(s.packets for s in scenarios)) as report:
                watch(futures, lambda: report(sum(c.packets_done for c in controls)))
            return [future.result() for future in futures]
        finally:
            for control in controls:
                control.stop = True
            for future in futures:
                future.cancel()


def watch(futures: Sequence[Future[Any]], report: Callable[[], object]) -> None:
    """Returns when all are done or one has failed."""
    while True:
        done, pending = wait(futures, _TICK_SECONDS, return_when=FIRST_EXCEPTION)
        report()
        if not pending or any(future.exception() for future in done):
            return


def _run_one(scenario: Scenario, control: _native.RunControl) -> Result:
    result = _native.run(native_scenario(scenario), control)
    if result is None:
        raise CancelledError
    return from_native(scenario, result)
