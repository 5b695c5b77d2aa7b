"""What operations cost on a host, as a file: measured rows that a scenario takes as its costs."""

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from vringlab.costs import CLOCK, CostPrior, Costs, cost_rows
from vringlab.results import ResultsError

FORMAT, VERSION = "vringlab-host", 1
EVIDENCE = "measured on this machine"


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredRow:
    """An operation of this host: 5 %, median and 95 % of its readings."""

    name: str
    """Of what was measured."""
    costs: tuple[str, ...]
    """The cost rows that it is a value of, every variant of one; empty: for information."""
    unit: str
    """That of the cost rows."""
    low: float
    best: float
    high: float
    readings: int
    evidence: str = EVIDENCE
    how: str = ""
    """What one operation was."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HostFile:
    """A host as `vringlab measure-host` found it."""

    cpu: str
    kernel: str
    virtual: bool
    """It runs under a hypervisor, whose interruptions are in the spread."""
    cycles: str
    """Where cycles come from: perf's counter, or the clock's rate and why not the counter."""
    rows: tuple[MeasuredRow, ...]
    missing: Mapping[str, str]
    """What was not measured, and why."""


def write_host(path: Path | str, host: HostFile) -> None:
    """All of the file or nothing."""
    document = {"format": FORMAT, "version": VERSION} | asdict(host)
    target = Path(path)
    partial = target.with_name(target.name + ".part")
    partial.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
    partial.replace(target)


def read_host(path: Path | str) -> HostFile:
    """Reads one, defensively: a ResultsError names the file and what is wrong in it."""
    name = Path(path).name
    try:
        document = json.loads(Path(path).read_text(encoding="utf-8"))
    except (json.JSONDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ResultsError(f"{name}: not JSON: {error}") from None
    try:
        return _host(document)
    except ValueError as error:
        raise ResultsError(f"{name}: {error}") from None


def host_costs(path: Path | str) -> Costs:
    """The medians of a file of `vringlab measure-host`, for `Scenario(costs=...)`.

    Every variant of a cost that was measured is set, and the clock; what was not measured stays as
    the scenario's host has it, its cache sizes too. Some may be set anew:
    `costs={**host_costs("host.json"), "smp_mb": 20}`.

    >>> import tempfile
    >>> import vringlab as vl
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_host(f"{folder}/host.json", vl.measure_host(repetitions=3))
    ...     here = vl.Scenario(packets=1000, costs=host_costs(f"{folder}/host.json"))
    >>> here.costs["atomic_rmw"] > 0
    True
    """
    return Costs({cost: row.best for row in read_host(path).rows for cost in row.costs})


def host_priors(path: Path | str) -> tuple[CostPrior, ...]:
    """The same with their spread, for `calibrate(priors=...)`: a prior of each cost row, but for
    the clock, which a scenario's host has.

    >>> import tempfile
    >>> import vringlab as vl
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_host(f"{folder}/host.json", vl.measure_host(repetitions=3))
    ...     priors = host_priors(f"{folder}/host.json")
    >>> "atomic_rmw" in {prior.name for prior in priors}
    True
    """
    return tuple(
        CostPrior(cost, row.low, row.best, row.high)
        for row in read_host(path).rows
        for cost in row.costs
        if cost != CLOCK
    )


def _host(document: Any) -> HostFile:
    top = _fields("the file", document, ("format", "version", *_names(HostFile)))
    if top["format"] != FORMAT:
        raise ValueError(f"format = {top['format']!r:.80}: must be {FORMAT!r}")
    if top["version"] != VERSION:
        raise ValueError(f"version = {top['version']!r:.80}: must be {VERSION}")
    for name in ("cpu", "kernel", "cycles"):
        _text(name, top[name])
    if not isinstance(top["virtual"], bool):
        raise ValueError("virtual: must be true or false")
    missing = top["missing"]
    if not isinstance(missing, dict):
        raise ValueError("missing: must be an object")
    for name, why in missing.items():
        _text(f"missing: {name}", why)
    if not isinstance(top["rows"], list):
        raise ValueError("rows: must be a list")
    rows = tuple(map(_row, top["rows"]))
    kept = {name: top[name] for name in ("cpu", "kernel", "virtual", "cycles", "missing")}
    return HostFile(rows=rows, **kept)


def _row(value: Any) -> MeasuredRow:
    row = _fields("rows", value, _names(MeasuredRow))
    name = _text("rows: name", row["name"])
    for field in ("unit", "evidence", "how"):
        _text(f"{name}: {field}", row[field])
    for field in ("low", "best", "high"):
        number = row[field]
        if isinstance(number, bool) or not isinstance(number, (int, float)):
            raise ValueError(f"{name}: {field}: must be a number")
        if not (math.isfinite(number) and number > 0):
            raise ValueError(f"{name}: {field} = {number}: must be finite and above 0")
    if not row["low"] <= row["best"] <= row["high"]:
        raise ValueError(f"{name}: low, best and high must be in that order")
    if not isinstance(row["readings"], int) or isinstance(row["readings"], bool):
        raise ValueError(f"{name}: readings: must be a whole number")
    return MeasuredRow(**row | {"costs": _costs(name, row)})


def _costs(name: str, row: dict[str, Any]) -> tuple[str, ...]:
    if not isinstance(row["costs"], list):
        raise ValueError(f"{name}: costs: must be a list")
    units = {known.name: known.unit for known in cost_rows()} | {CLOCK: "GHz"}
    for cost in row["costs"]:
        if not isinstance(cost, str) or cost not in units:
            raise ValueError(f"{name}: costs: there is no cost row {cost!r:.80}")
        if units[cost] != row["unit"]:
            raise ValueError(f"{name}: {cost} is in {units[cost]}, not in {row['unit']}")
    return tuple(row["costs"])


def _names(kind: type) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind))


def _fields(name: str, value: Any, names: tuple[str, ...]) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ValueError(f"{name}: must be an object, not {type(value).__name__}")
    for field in names:
        if field not in value:
            raise ValueError(f"{name}: {field} is missing")
    unknown = [field for field in value if field not in names]
    if unknown:
        raise ValueError(f"{name}: there is no field {unknown[0]}")
    return value


def _text(name: str, value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{name}: must be a text")
    return value
