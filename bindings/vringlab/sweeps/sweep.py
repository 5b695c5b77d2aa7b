"""Runs a sweep: what is not finished yet, batch by batch, and a part of results for each."""

import os
import shutil
import sys
import tempfile
import time
import weakref
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Future, wait
from pathlib import Path
from typing import Any

from vringlab._fields import as_int
from vringlab.execute import as_scenario
from vringlab.progress import Progress, reporting
from vringlab.scenario import Scenario
from vringlab.sweeps.batch import Ran, result_table
from vringlab.sweeps.executors import Runner, runner_of
from vringlab.sweeps.files import SweepError
from vringlab.sweeps.folder import Folder
from vringlab.sweeps.manifest import check_same, write_sweep_manifest
from vringlab.sweeps.points import Plan, plan_of, points
from vringlab.sweeps.result import SweepResult, open_results

_TICK_SECONDS = 0.1
_BATCH_POINTS = 1000
_BATCH_PACKETS = 40_000_000
"""Of all points of a batch, by slot: some ten seconds, which is what a killed sweep does again."""


def sweep(
    base: Scenario,
    over: Mapping[str, Any],
    *,
    method: str = "grid",
    n: int | None = None,
    seed: int = 0,
    seeds: Sequence[int] = (),
    when: Mapping[str, Mapping[str, Any]] | None = None,
    out: str | os.PathLike[str] | None = None,
    executor: Any = None,
    workers: int | None = None,
    batch: int | None = None,
    retry_failed: bool = False,
    progress: Progress = None,
    command: str | None = None,
) -> SweepResult:
    """Runs `base` with other values of some fields, each combination once.

    over: by the name of a field ("batch", "plan.guard", "blk.queue_depth", "costs.smp_mb") a list
    of values, or, where they are drawn, a Range or a Choice.
    method: grid has all combinations; random, lhs (Latin hypercube) and sobol draw `n` of them,
    with `seed`. Draws that come out equal are one point.
    seeds: every point is run with each of these values of `Scenario.seed`.
    when: an axis takes part only where other fields have certain values, as in
    {"plan.guard": {"plan": "vmap"}}; else it keeps the base's value and its cell is null.
    out: the folder of the results; what it has is not run again. None: a temporary one.
    executor: None for threads of this process, a concurrent.futures.Executor, or the address of a
    Dask scheduler. workers: how many points run at once. batch: how many points make a task and a
    file. Results depend on none of the three.
    retry_failed: points that failed before are run again.
    progress: as of `run`, but in points.

    A point that fails is a row with its error. Ctrl-C ends a sweep, and the same call goes on with
    it; so it does after a kill.

    >>> import vringlab as vl
    >>> over = {"batch": [1, 64], "plan.guard": ["none", "rcu"]}
    >>> results = sweep(vl.Scenario(packets=100, plan=vl.AccessPlan.vmap()), over)
    >>> results
    SweepResult(4 of 4 points, 0 failed, simulated, over batch, plan.guard)
    >>> results.to_pandas()["batch"].to_list()
    [1, 1, 64, 64]
    """
    plan = plan_of(
        as_scenario("base", base), over, method=method, n=n, seed=seed, seeds=seeds, when=when
    )
    if batch is not None and as_int("batch", batch) < 1:
        raise ValueError(f"batch = {batch}: must be at least 1")
    path = Path(tempfile.mkdtemp(prefix="vringlab-sweep-") if out is None else out)
    try:
        with Folder(path) as folder:
            _run(folder, plan, executor, workers, batch, retry_failed, progress, command)
            results = open_results(path)
    except BaseException:
        if out is None:
            _remove(path)
        raise
    if out is None:
        weakref.finalize(results, _remove, path)
    return results


def _remove(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)


def _run(
    folder: Folder,
    plan: Plan,
    executor: Any,
    workers: int | None,
    batch: int | None,
    retry_failed: bool,
    progress: Progress,
    command: str | None,
) -> None:
    start = time.monotonic()
    check_same(folder.path, plan)
    made = command or " ".join([Path(sys.argv[0]).name, *sys.argv[1:]])
    write_sweep_manifest(folder, plan, made)
    total = folder.write_points(points(plan), plan.axes)
    if retry_failed:
        folder.forget_failed()
    finished = folder.finished()
    missing = total - folder.count(finished)
    if missing:
        with runner_of(plan.base, executor, workers) as runner:
            size = batch or _batch_points(plan.base, missing, runner)
            batches = folder.batches(size, finished)
            Drive(folder, plan, runner, total, total - missing, progress).all(batches)
    folder.check_count(total)
    write_sweep_manifest(folder, plan, made, total, time.monotonic() - start)


def _batch_points(base: Scenario, missing: int, runner: Runner) -> int:
    """Enough for few files, and few enough that all slots have work and little is lost."""
    slots = runner.slots
    by_time = _BATCH_PACKETS * (slots if runner.shared else 1) // base.packets
    by_slots = missing if runner.shared else -(-missing // (4 * slots))
    return max(slots if runner.shared else 1, min(_BATCH_POINTS, by_time, by_slots))


class Drive:
    """Keeps the runner busy and writes down what comes back."""

    def __init__(
        self,
        folder: Folder,
        plan: Plan,
        runner: Runner,
        total: int,
        finished: int,
        progress: Progress,
    ) -> None:
        self._folder = folder
        self._plan = plan
        self._runner = runner
        self._total = total
        self._finished = finished
        self._progress = progress
        self._pending: dict[Future[Ran], Any] = {}
        self._failures: list[str] = []

    def all(self, batches: Any) -> None:
        """Runs all batches; SweepError if some of them could not be."""
        with reporting(self._progress, self._total, unit="points", done=self._finished) as report:
            try:
                self._loop(batches, report)
            except BaseException:
                self._keep_what_is_done()
                raise
        if self._failures:
            raise SweepError(self._incomplete(self._failures[0]))

    def _loop(self, batches: Any, report: Callable[[int], object]) -> None:
        while True:
            while len(self._pending) < self._runner.width:
                points = next(batches, None)
                if points is None:
                    break
                self._submit(points)
            if not self._pending:
                return
            done, _ = wait(self._pending, _TICK_SECONDS, FIRST_COMPLETED)
            for future in done:
                self._take(future)
            report(self._finished + self._under_way())

    def _under_way(self) -> int:
        try:
            return self._runner.done()
        except SweepError as error:
            raise SweepError(self._incomplete(str(error))) from None

    def _submit(self, points: Any) -> None:
        try:
            future = self._runner.submit(points["changes"].to_pylist())
        except RuntimeError as error:  # an executor that is broken or shut down
            raise SweepError(self._incomplete(str(error))) from error
        self._pending[future] = points

    def _take(self, future: Future[Ran]) -> None:
        points = self._pending.pop(future)
        try:
            ran = future.result()
        except BrokenExecutor as error:
            raise SweepError(self._incomplete(str(error))) from error
        except CancelledError:
            self._failures.append("the executor cancelled it")
        except Exception as error:
            self._failures.append(f"{type(error).__name__}: {error}")
        else:
            self._write(points, ran)

    def _write(self, points: Any, ran: Ran) -> None:
        table = result_table(points, ran, self._plan.axes)
        if len(table):
            self._folder.write_part(table)
            self._finished += len(table)

    def _keep_what_is_done(self) -> None:
        """After an error or Ctrl-C: nothing more begins, what has come back is written."""
        ends_soon = self._runner.stop()
        for future in list(self._pending):
            if (ends_soon or future.done()) and not future.cancelled():
                try:
                    self._take(future)
                except SweepError:
                    return  # the disk is full, say: the first error is the one to tell

    def _incomplete(self, why: str) -> str:
        return (
            f"{self._folder.path}: {self._total - self._finished} of {self._total} points were not "
            f"run: {' '.join(why.split())[:300]}; the same sweep goes on from there"
        )
