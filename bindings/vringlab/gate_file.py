"""The file of a gate: scenarios by name, and what they came to when it was recorded."""

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from vringlab import _native
from vringlab.access_plan import AccessPlan
from vringlab.blk import Blk
from vringlab.measuring import Toolchain
from vringlab.results import ResultsError
from vringlab.scenario import Scenario

FORMAT, VERSION = "vringlab-gate", 1
Metrics = Mapping[str, int | str]


@dataclass(frozen=True, slots=True)
class GateFile:
    """What `vringlab gate` holds a build to. An empty mapping: not recorded yet."""

    scenarios: Mapping[str, Scenario]
    metrics: Mapping[str, Metrics]
    """Simulated, by scenario."""
    instructions: Mapping[Toolchain, Mapping[str, float]]
    """A packet, by toolchain, then scenario."""


def default_scenarios() -> dict[str, Scenario]:
    """One a workload, short: what `gate record` begins with where there is no file.

    >>> default_scenarios()["tx-vmap"]
    Scenario(packets=2000, plan=AccessPlan.vmap())
    """
    tx = Scenario(packets=2000)
    rx = tx.replace(workload="rx")
    stream = Scenario(
        workload="stream", guest="vm", sink="host_tcp", message_bytes=1024, stream_ms=1.0
    )
    return {
        "tx-user": tx,
        "tx-vmap": tx.replace(plan=AccessPlan.vmap()),
        "tx-batch-1": tx.replace(batch=1, guest_notify="interrupt", event_idx=True),
        "rx-mergeable": rx,
        "rx-kernel-strict": rx.replace(guest="vm-kernel", guest_notify="interrupt", iommu="strict"),
        "macswap-2-pairs": tx.replace(workload="macswap", queue_pairs=2, workers=2),
        "stream": stream,
        "blk": Scenario(workload="blk", packets=1000, blk=Blk(disk="ram")),
    }


def write_gate_file(path: Path, gate: GateFile) -> None:
    """All of the file or nothing."""
    document = {
        "format": FORMAT,
        "version": VERSION,
        "recorded_by": f"vringlab {_native.version}",
        "scenarios": {
            name: {"scenario": _changes(scenario), "metrics": dict(gate.metrics.get(name, {}))}
            for name, scenario in gate.scenarios.items()
        },
        "instructions_per_packet": [
            {"toolchain": asdict(toolchain), "scenarios": dict(counts)}
            for toolchain, counts in gate.instructions.items()
        ],
    }
    partial = path.with_name(path.name + ".part")
    partial.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
    partial.replace(path)


def read_gate_file(path: Path) -> GateFile:
    """Reads one, defensively: a ResultsError names the file and what is wrong in it."""
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except (json.JSONDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ResultsError(f"{path.name}: not JSON: {error}") from None
    try:
        return _gate(document)
    except (TypeError, ValueError) as error:
        raise ResultsError(f"{path.name}: {error}") from None


def _gate(document: Any) -> GateFile:
    top = _object("the file", document)
    if top.get("format") != FORMAT:
        raise ValueError(f"format = {top.get('format')!r:.80}: must be {FORMAT!r}")
    if top.get("version") != VERSION:
        raise ValueError(f"version = {top.get('version')!r:.80}: must be {VERSION}")
    entries = _object("scenarios", top.get("scenarios"))
    scenarios = {name: _scenario(name, entry) for name, entry in entries.items()}
    metrics = {name: _metrics(name, entry) for name, entry in entries.items()}
    listed = top.get("instructions_per_packet")
    if not isinstance(listed, list):
        raise ValueError("instructions_per_packet: must be a list")
    return GateFile(scenarios, metrics, dict(map(_counts, listed)))


def _scenario(name: str, entry: Any) -> Scenario:
    values = dict(_object(f"{name}: scenario", _object(name, entry).get("scenario")))
    for member, kind in (("plan", AccessPlan), ("blk", Blk)):
        if member in values:
            values[member] = kind(**_known(kind, f"{name}: {member}", values[member]))
    known = _known(Scenario, name, values)
    try:
        return Scenario(**known)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name}: {error}") from None


def _known(kind: type, name: str, values: Any) -> dict[str, Any]:
    names = {field.name for field in fields(kind)}
    for member in _object(name, values):
        if member not in names:
            raise ValueError(f"{name}: there is no field {member}")
    return dict(values)


def _metrics(name: str, entry: Any) -> Metrics:
    metrics = _object(f"{name}: metrics", entry.get("metrics"))
    for metric, value in metrics.items():
        if isinstance(value, bool) or not isinstance(value, (int, str)):
            raise ValueError(f"{name}: {metric} = {value!r:.80}: must be an integer or a digest")
    return metrics


def _counts(entry: Any) -> tuple[Toolchain, dict[str, float]]:
    values = _object("instructions_per_packet", entry)
    toolchain = _known(Toolchain, "toolchain", values.get("toolchain"))
    missing = [f.name for f in fields(Toolchain) if not isinstance(toolchain.get(f.name), str)]
    if missing:
        raise ValueError(f"toolchain: {missing[0]} must be a text")
    counts = _object("instructions_per_packet: scenarios", values.get("scenarios"))
    for name, count in counts.items():
        number = isinstance(count, (int, float)) and not isinstance(count, bool)
        if not (number and math.isfinite(count) and count > 0):
            raise ValueError(f"{name}: instructions = {count!r:.80}: must be finite and above 0")
    return Toolchain(**toolchain), {name: float(count) for name, count in counts.items()}


def _object(name: str, value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ValueError(f"{name}: must be an object, not {type(value).__name__}")
    return value


def _changes(scenario: Scenario) -> dict[str, Any]:
    """The fields that differ from the defaults, as JSON knows them."""
    values = scenario.to_dict()
    changes: dict[str, Any] = {name: values[name] for name in scenario.changes()}
    if "blk" in changes:
        changes["blk"] = scenario.blk.changes()
    return changes
