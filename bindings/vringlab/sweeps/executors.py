"""Where batches run: threads of C++, any concurrent.futures executor, or a Dask cluster."""

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, Protocol

from vringlab import _native
from vringlab._fields import as_int
from vringlab.scenario import Scenario
from vringlab.sweeps.batch import Ran, identity, run_batch
from vringlab.sweeps.files import SweepError

_CONNECT_SECONDS = 5
_WORKER_SECONDS = 30


class Runner(Protocol):
    """Runs batches of a sweep."""

    width: int
    """Batches under way at once."""
    slots: int
    """Points under way at once."""
    shared: bool
    """A batch is run on all slots, not on one."""

    def submit(self, changes: Sequence[str]) -> Future[Ran]: ...

    def done(self) -> int:
        """Points done of batches that aren't. SweepError if none will ever be."""

    def stop(self) -> bool:
        """Begins nothing more; True if what is under way ends soon, with what it has."""


class Threads:
    """One native call a batch, on several threads without the GIL; the next batch waits for it."""

    width = 2
    shared = True

    def __init__(self, base: Scenario, threads: int) -> None:
        self.slots = threads
        self._base = base
        self._controls: dict[Future[Ran], _native.RunControl] = {}
        self._pool = ThreadPoolExecutor(1)

    def submit(self, changes: Sequence[str]) -> Future[Ran]:
        control = _native.RunControl()
        future = self._pool.submit(run_batch, self._base, changes, identity(), self.slots, control)
        self._controls[future] = control
        future.add_done_callback(lambda done: self._controls.pop(done, None))
        return future

    def done(self) -> int:
        return sum(control.runs_done for control in list(self._controls.values()))

    def stop(self) -> bool:
        for control in list(self._controls.values()):
            control.stop = True
        return True

    def close(self) -> None:
        self.stop()
        self._pool.shutdown()


class Futures:
    """A batch a task of an executor, on one thread each."""

    shared = False

    def __init__(self, base: Scenario, executor: Executor, slots: int) -> None:
        self.slots = slots
        self.width = 2 * slots
        self._base = base
        self._executor = executor
        self._running: set[Future[Ran]] = set()

    def submit(self, changes: Sequence[str]) -> Future[Ran]:
        future = self._executor.submit(run_batch, self._base, changes, identity())
        self._running.add(future)
        future.add_done_callback(self._running.discard)
        return future

    def done(self) -> int:
        return 0

    def stop(self) -> bool:
        for future in list(self._running):
            future.cancel()
        return False


class Dask(Futures):
    """The same on a Dask cluster, which gives batches of a lost worker to another one."""

    def __init__(self, base: Scenario, client: Any, address: str, workers: int | None) -> None:
        slots = workers or max(1, sum(client.nthreads().values()))
        super().__init__(base, client.get_executor(pure=False), slots)
        self._client = client
        self._address = address

    def done(self) -> int:
        # A client that has given up never ends the futures it has.
        if self._client.status in ("closing", "closed"):
            raise SweepError(f'executor = "{self._address}": the connection was lost')
        return 0


@contextmanager
def runner_of(base: Scenario, executor: Any, workers: int | None) -> Iterator[Runner]:
    """What runs the batches; what it opened is closed, what it was given is not."""
    if workers is not None and as_int("workers", workers) < 1:
        raise ValueError(f"workers = {workers}: must be at least 1")
    processors = len(os.sched_getaffinity(0))
    if executor is None:
        threads = Threads(base, workers or processors)
        try:
            yield threads
        finally:
            threads.close()
    elif isinstance(executor, str):
        with _client(executor) as client:
            yield Dask(base, client, executor, workers)
    elif isinstance(executor, Executor):
        slots = workers or getattr(executor, "_max_workers", None) or processors
        yield Futures(base, executor, slots)
    else:
        raise TypeError(
            "executor must be None, a concurrent.futures.Executor or the address of a Dask "
            f"scheduler, not {type(executor).__name__}: {executor!r:.80}"
        )


@contextmanager
def _client(address: str) -> Iterator[Any]:
    """A client of the Dask scheduler there, which has workers."""
    try:
        from distributed import Client
    except ImportError:
        raise SweepError(
            f'executor = "{address}": needs Dask: pip install "vringlab[dask]"'
        ) from None
    try:
        client = Client(address, timeout=_CONNECT_SECONDS, set_as_default=False)
    except (OSError, ValueError, TimeoutError) as error:
        raise SweepError(
            f'executor = "{address}": no Dask scheduler answers there: {_cause(error)}'
        ) from None
    with client:
        try:
            client.wait_for_workers(1, timeout=_WORKER_SECONDS)
        except TimeoutError:
            raise SweepError(
                f'executor = "{address}": no worker joined in {_WORKER_SECONDS} s'
            ) from None
        yield client


def _cause(error: BaseException) -> str:
    while error.__cause__ is not None:
        error = error.__cause__
    return (str(error).splitlines() or [type(error).__name__])[0][:200]
