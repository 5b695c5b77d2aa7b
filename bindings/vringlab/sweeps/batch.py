"""One batch of points: run in C++ threads, and as a table of the sweep's schema."""

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vringlab import _native
from vringlab.access_plan import AccessPlan, native_plan
from vringlab.scenario import Scenario, native_scenario, set_native
from vringlab.sweeps.axes import Axis

SCHEMA = 1
"""Of the files of a sweep; a newer one is refused."""
FIGURES: tuple[str, ...] = _native.batch_columns
"""Whole numbers that a run comes to, by name."""
RATIOS = ("rate_pps", "throughput_gbps", "ns_per_packet", "unmodelled_share")
"""Of figures: packets and gigabits a second, elapsed nanoseconds a packet, and the part of the
worker's busy time that no cost row explains."""
OK, FAILED = "ok", "failed"
_STOPPED, _FAILED = 0, 2
_KINDS = {"bool": "bool", "int": "uint64", "float": "float64", "str": "string"}


class Ran(NamedTuple):
    """What came out of a batch: plain arrays, that any executor can send."""

    states: NDArray[np.uint8]
    """By point: 0 was not run, 1 ok, 2 failed."""
    errors: list[str]
    values: NDArray[np.uint64]
    """Shape (len(FIGURES), points)."""
    measured: NDArray[np.uint8]


def run_batch(
    base: Scenario,
    changes: Sequence[str],
    made_by: tuple[str, str],
    threads: int = 1,
    control: _native.RunControl | None = None,
) -> Ran:
    """Runs `base` with each of these changes, each one JSON; made_by is who asks."""
    if made_by != identity():
        raise RuntimeError(
            f"this worker has vringlab {identity()[0]}, model {identity()[1][:12]}; "
            f"the sweep is of {made_by[0]}, model {made_by[1][:12]}: install the same on both"
        )
    make = _Natives(base)
    scenarios = [make.scenario(json.loads(text)) for text in changes]
    return Ran(*_native.run_batch(scenarios, threads, control or _native.RunControl()))


def identity() -> tuple[str, str]:
    """The version and the model: where they are equal, results are."""
    return _native.version, _native.model()


class _Natives:
    """Makes the scenarios of a batch as the simulator takes them, from the changes only."""

    def __init__(self, base: Scenario) -> None:
        self._base = native_scenario(base)
        self._plans: dict[str, _native.AccessPlan] = {}

    def scenario(self, changes: dict[str, Any]) -> _native.Scenario:
        native = _native.copy_scenario(self._base)
        for name, value in changes.items():
            if name == "plan":
                native.plan = self._plan(value)
            elif name == "blk":
                _set_all(native.blk, value)
            else:
                setattr(native, name, value)
        return native

    def _plan(self, fields: dict[str, Any]) -> _native.AccessPlan:
        text = repr(fields)
        if text not in self._plans:
            self._plans[text] = native_plan(AccessPlan(**fields))
        return self._plans[text]


def _set_all(native: Any, fields: dict[str, Any]) -> None:
    for name, value in fields.items():
        set_native(native, name, value)


# --- as a table -----------------------------------------------------------------------------------


def point_fields(axes: Sequence[Axis]) -> list[Any]:
    """The fields that say which point a row is of."""
    import pyarrow as pa

    return [pa.field("key", pa.string(), nullable=False), *axis_fields(axes)]


def axis_fields(axes: Sequence[Axis]) -> list[Any]:
    import pyarrow as pa

    return [pa.field(axis.name, pa.type_for_alias(_KINDS[axis.kind])) for axis in axes]


def result_schema(axes: Sequence[Axis]) -> Any:
    """The schema of the parts of a sweep, with its version in the metadata."""
    import pyarrow as pa

    fields = [
        *point_fields(axes),
        pa.field("status", pa.string(), nullable=False),
        pa.field("error", pa.string()),
        *(pa.field(name, pa.float64()) for name in RATIOS),
        *(pa.field(name, pa.uint64()) for name in FIGURES),
    ]
    return pa.schema(fields, metadata())


def metadata() -> dict[str, str]:
    """What each file of a sweep says about itself."""
    version, model = identity()
    return {
        "vringlab.schema": str(SCHEMA),
        "vringlab.version": version,
        "vringlab.model": model,
        "vringlab.figures": "simulated",
    }


def result_table(points: Any, ran: Ran, axes: Sequence[Axis]) -> Any:
    """The rows of the points that were run; what was not measured is null, never a NaN."""
    import pyarrow as pa

    schema = result_schema(axes)
    columns = [points.column(field.name) for field in point_fields(axes)]
    failed = ran.states == _FAILED
    columns.append(pa.array(np.where(failed, FAILED, OK), pa.string()))
    columns.append(pa.array([error or None for error in ran.errors], pa.string()))
    columns += [pa.array(values, mask=~known) for values, known in _ratios(ran)]
    pairs = zip(ran.values, ran.measured == 0, strict=True)
    columns += [pa.array(values, mask=missing) for values, missing in pairs]
    table = pa.Table.from_arrays(columns, schema=schema)
    return table.filter(pa.array(ran.states != _STOPPED))


def _ratios(ran: Ran) -> list[tuple[NDArray[np.float64], NDArray[np.bool_]]]:
    def figure(name: str) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        place = FIGURES.index(name)
        return ran.values[place].astype(np.float64), ran.measured[place] == 1

    packets, elapsed = figure("sent_packets"), figure("elapsed_ps")
    return [
        _ratio(packets, elapsed, 1e12),
        _ratio(figure("bytes"), elapsed, 8000.0),
        _ratio(elapsed, (1000 * packets[0], packets[1])),
        _ratio(figure("worker_unmodelled_ps"), figure("worker_busy_ps")),
    ]


def _ratio(
    above: tuple[NDArray[np.float64], NDArray[np.bool_]],
    below: tuple[NDArray[np.float64], NDArray[np.bool_]],
    factor: float = 1.0,
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    known = above[1] & below[1] & (below[0] > 0)
    zeros = np.zeros_like(above[0])
    return np.divide(factor * above[0], below[0], out=zeros, where=known), known
