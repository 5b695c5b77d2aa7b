"""The netperf table: TCP streams from a guest to its host, by message size and sessions."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Self

import numpy as np
from vringlab import Calibration, Gain, Result, Scenario, sample
from vringlab.experiments.vmap.fit import MEASUREMENT_SIGMA
from vringlab.experiments.xdp_batch.base import SEED
from vringlab.prediction import noise_factors
from vringlab.published import Published

ROWS = "netperf."
"""How the names of the published rows begin."""
MESSAGES = (64, 256, 512, 1024, 2048, 4096, 16384, 65535)
SESSIONS = (1, 2, 4, 8)
DRAWS = 19
"""The least and greatest of so many draws are a 90 % interval."""

# The guest has four processors, a guess. How much a stream may have under way decides whether
# writes pile up into packets that no batch takes: SEND_BUFFERS are tried as well.
STREAM = Scenario(
    host="unnamed-2018",
    kernel="v5.0",
    workload="stream",
    sink="host_tcp",
    guest="vm",
    vcpus=4,
    stream_ms=5,
)
SEND_BUFFERS = (16384, 65536, 262144, 4194304)

SLIGHT = 3
"""A published gain of at most so many percent is hardly any."""
ALWAYS = 0.95
"""The share of time from which a processor counts as always busy."""
NEAR = 5
"""In points."""

SIGMA = MEASUREMENT_SIGMA
"""Standard deviation of ln(value) of a run, in throughput and, by itself, in CPU use: as for the
other rows of the posting. Netperf's own scripts repeat a run, three times at least, until both
are known to +-2.5 % at a confidence of 99 %, which asks for a run that is good to 1.7 %."""

Key = tuple[int, int]
KEYS: tuple[Key, ...] = tuple(product(MESSAGES, SESSIONS))


@dataclass(frozen=True, slots=True)
class Stream:
    """The runs of one scenario and what a measurement would say of them: at the fit without noise,
    then one a draw."""

    at_fit: Result
    throughput: list[float]
    per_cpu: list[float]
    """A second measurement, of CPU use, is in it."""

    @classmethod
    def of(cls, scenario: Scenario, results: Sequence[Result]) -> Self:
        """`results` of `sample`."""
        draws = len(results) - 1
        noise = [1.0, *noise_factors(f"{SEED} {scenario!r}", draws, SIGMA)]
        cpu_noise = [1.0, *noise_factors(f"{SEED} CPU use, {scenario!r}", draws, SIGMA)]
        throughput = [r.throughput_gbps * n for r, n in zip(results, noise, strict=True)]
        per_cpu = [
            r.throughput_per_cpu * n / c for r, n, c in zip(results, noise, cpu_noise, strict=True)
        ]
        return cls(results[0], throughput, per_cpu)


@dataclass(frozen=True, slots=True)
class Cell:
    """One message size and number of sessions: what batching gains, and where time went."""

    message_bytes: int
    sessions: int
    before: Result
    after: Result
    throughput: Gain
    per_cpu: Gain

    @property
    def regime(self) -> str:
        """What bounds the stream before batching; "waits": nobody, each waits for the others."""
        # The longest writes leave as two packets, one of them short enough to be batched.
        if self.alone_share > 0.4:
            return "not batched"
        if self.writing > ALWAYS * self.writers:
            return "guest"
        return "vhost" if self.busy("worker") > 0.9 else "waits"

    @property
    def writers(self) -> int:
        """Processors of the guest that can write at a time."""
        return min(self.sessions, STREAM.vcpus)

    @property
    def writing(self) -> float:
        """Cores' worth of busy time before batching, of the processors that write."""
        if self.sessions >= STREAM.vcpus:
            return self.busy("guest")
        # The first processor, which has no session to write for, takes the interrupts.
        by_step = self.before.by("step", "guest")
        taken_ns = sum(by_step.get(step, 0) for step in ("guest_interrupt", "guest_ack"))
        return self.busy("guest") - 1000 * taken_ns * self.before.packets / self.before.elapsed_ps

    @property
    def alone_share(self) -> float:
        """Of the frames, those sent alone although others are batched."""
        return self.after.alone / self.after.packets

    def busy(self, core: str) -> float:
        """Cores' worth of busy time before batching."""
        return self.before.core(core).busy_ps / self.before.elapsed_ps


@dataclass(frozen=True, slots=True)
class Answer:
    """A cell beside the gains that were published for it, in percent."""

    cell: Cell
    throughput: float
    per_cpu: float

    @property
    def right(self) -> bool:
        return right(self.throughput, self.cell.throughput.percent)


def cells(
    calibration: Calibration, keys: Sequence[Key] = KEYS, draws: int = DRAWS
) -> dict[Key, Cell]:
    """Cells of the table, predicted."""
    asked = [scenario for key in keys for scenario in pair(*key)]
    sampled = sample(asked, calibration, draws=draws, seed=SEED)
    streams = [Stream.of(s, results) for s, results in zip(asked, sampled, strict=True)]
    pairs = zip(keys, streams[::2], streams[1::2], strict=True)
    return {key: _cell(key, before, after) for key, before, after in pairs}


def pair(message_bytes: int, sessions: int, **changes: int) -> tuple[Scenario, Scenario]:
    """One packet a call, then batched."""
    base = STREAM.replace(message_bytes=message_bytes, sessions=sessions, **changes)
    return base.replace(tx_batching=False), base


def gain_of(row: Published, table: Mapping[Key, Cell]) -> Gain:
    """The prediction for a published row."""
    key, metric = _named(row)
    return table[key].throughput if metric == "throughput" else table[key].per_cpu


def answers(published: Iterable[Published], table: Mapping[Key, Cell]) -> list[Answer]:
    """Every cell, with its published rows among these."""
    gains = {_named(row): row.value for row in published if row.id.startswith(ROWS)}
    return [
        Answer(cell, gains[key, "throughput"], gains[key, "normalized"])
        for key, cell in table.items()
    ]


def right(published: float, predicted: float) -> bool:
    """The right sign; where hardly anything changed, near it."""
    if abs(published) <= SLIGHT:
        return abs(predicted - published) <= NEAR
    return predicted * published > 0


def rank_correlation(a: Sequence[float], b: Sequence[float]) -> float:
    """Spearman's; equal values share their mean rank."""
    return float(np.corrcoef(_ranks(a), _ranks(b))[0, 1])


def _named(row: Published) -> tuple[Key, str]:
    """Cell and metric of a row `netperf.<message>.<sessions>.<metric>`."""
    _, message, sessions, metric = row.id.split(".")
    return (int(message), int(sessions)), metric


def _ranks(values: Sequence[float]) -> list[float]:
    ordered = np.sort(np.array(values))
    first, last = (np.searchsorted(ordered, values, side=side) for side in ("left", "right"))
    return [float(rank) for rank in (first + last - 1) / 2]


def _cell(key: Key, before: Stream, after: Stream) -> Cell:
    return Cell(
        *key,
        before=before.at_fit,
        after=after.at_fit,
        throughput=_gain(before.throughput, after.throughput),
        per_cpu=_gain(before.per_cpu, after.per_cpu),
    )


def _gain(before: Sequence[float], after: Sequence[float]) -> Gain:
    """At the fit, which comes first, and the range of the draws, both runs' noise included."""
    percent = [round(100 * (b / a - 1), 4) for a, b in zip(before, after, strict=True)]
    return Gain(percent[0], min(percent[1:]), max(percent[1:]), 0.90)
