"""A sweep on a Dask cluster: the same table, also when a worker dies on the way."""

import os
import signal
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import vringlab as vl
from vringlab.sweeps import executors

distributed = pytest.importorskip("distributed")

BASE = vl.Scenario(packets=100_000)
OVER = {"packet_bytes": list(range(64, 104)), "ring_size": [3, 256]}


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """A scheduler and two workers, each a process."""
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0"}
    with distributed.LocalCluster(processes=True, silence_logs=50, **options) as cluster:
        yield cluster


def worker_pids(cluster: Any) -> list[int]:
    with distributed.Client(cluster, set_as_default=False) as client:
        return sorted(client.run(os.getpid).values())


def test_a_worker_is_killed_and_nothing_is_lost_or_doubled(cluster: Any, tmp_path: Path) -> None:
    before = worker_pids(cluster)
    assert len(before) == 2
    killed: list[int] = []

    def kill_one(done: int, total: int) -> None:
        if done and not killed:
            assert done < total
            killed.append(before[0])
            os.kill(before[0], signal.SIGKILL)

    results = vl.sweep(
        BASE,
        OVER,
        out=tmp_path,
        executor=cluster.scheduler_address,
        batch=2,
        progress=kill_one,
    )
    assert killed
    assert killed[0] not in worker_pids(cluster)
    assert (len(results), results.missing, results.failed) == (80, 0, 40)
    keys = [key for frame in results.frames(["key"]) for key in frame["key"]]
    assert len(keys) == len(set(keys)) == 80
    assert results.to_arrow() == vl.sweep(BASE, OVER).to_arrow()


def test_a_lost_scheduler_is_an_error_and_the_sweep_goes_on_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(executors, "_CONNECT_SECONDS", 1)
    options = {"n_workers": 1, "threads_per_worker": 1, "dashboard_address": ":0"}
    with distributed.LocalCluster(processes=False, silence_logs=50, **options) as cluster:

        def close(done: int, total: int) -> None:
            if done:
                cluster.close()

        with pytest.raises(vl.SweepError, match=r"points were not run: .*; the same sweep goes on"):
            vl.sweep(
                BASE,
                OVER,
                out=tmp_path,
                executor=cluster.scheduler_address,
                batch=2,
                progress=close,
            )
    assert 0 < vl.open_results(tmp_path).missing < 80
    assert vl.sweep(BASE, OVER, out=tmp_path).to_arrow() == vl.sweep(BASE, OVER).to_arrow()


def test_an_address_without_a_scheduler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(executors, "_CONNECT_SECONDS", 1)
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{unused.getsockname()[1]}"
        start = time.monotonic()
        expected = f'^executor = "{address}": no Dask scheduler answers there: '
        with pytest.raises(vl.SweepError, match=expected):
            vl.sweep(BASE, OVER, executor=address)
        # Generous: what matters is that it is not for ever.
        assert time.monotonic() - start < 60


@pytest.mark.parametrize("address", ["nonsense", "tcp://", "gopher://127.0.0.1:1"])
def test_what_is_no_address(address: str) -> None:
    with pytest.raises(vl.SweepError, match=f'^executor = "{address}": '):
        vl.sweep(BASE, OVER, executor=address)
