"""What a sweep says about itself: its manifest, and whether a folder is of the same sweep."""

from pathlib import Path
from typing import Any

from vringlab.results import MANIFEST, Manifest, ResultsError, read_manifest, write_manifest
from vringlab.sweeps.axes import Axis, Range
from vringlab.sweeps.batch import SCHEMA, identity
from vringlab.sweeps.files import SweepError, check_version
from vringlab.sweeps.folder import PARTS, POINTS, Folder
from vringlab.sweeps.points import Plan


def write_sweep_manifest(
    folder: Folder, plan: Plan, command: str, total: int | None = None, wall_seconds: float = 0.0
) -> None:
    """Before a sweep, what it is; with `total`, once it is over, which files it has."""
    try:
        write_manifest(
            folder.path,
            command=command,
            seed=plan.seed,
            wall_seconds=wall_seconds,
            files=[] if total is None else [POINTS, *_parts(folder)],
            sweep=_described(plan, total),
        )
    except OSError as error:
        raise SweepError(
            f"{folder.path / MANIFEST}: can't be written: {error.strerror or error}"
        ) from error


def read_sweep_manifest(path: Path) -> Manifest:
    """The manifest of the sweep in a folder, checked."""
    if not (path / MANIFEST).is_file():
        raise ResultsError(f"{path / MANIFEST}: is missing: not a folder of a sweep")
    try:
        manifest = read_manifest(path)
    except ResultsError as error:
        raise ResultsError(f"{path}/{error}") from None
    if manifest.sweep is None:
        raise ResultsError(f"{path / MANIFEST}: is not of a sweep")
    stated = manifest.sweep.get("schema")
    if not isinstance(stated, int):
        raise ResultsError(f"{path / MANIFEST}: sweep states no schema")
    check_version(path / MANIFEST, stated)
    for name, kind in (("base", dict), ("over", dict), ("model", str)):
        if not isinstance(manifest.sweep.get(name), kind):
            raise ResultsError(f"{path / MANIFEST}: sweep.{name} must be a {kind.__name__}")
    return manifest


def check_same(path: Path, plan: Plan) -> None:
    """SweepError if the folder has a sweep of another base or other axes."""
    if not (path / MANIFEST).exists():
        return
    there = read_sweep_manifest(path).sweep or {}
    base = plan.base.to_dict()
    differ = [name for name in base if there["base"].get(name) != base[name]]
    if differ:
        raise SweepError(f"{path}: has a sweep of another base ({', '.join(differ)} differ)")
    names = [axis.name for axis in plan.axes]
    if list(there["over"]) != names:
        raise SweepError(
            f"{path}: has a sweep over {', '.join(there['over'])}, not {', '.join(names)}"
        )


def _parts(folder: Folder) -> list[str]:
    return [f"{PARTS}/{path.name}" for path in folder.parts()]


def _described(plan: Plan, total: int | None) -> dict[str, Any]:
    return {
        "schema": SCHEMA,
        "model": identity()[1],
        "points": total,
        "base": plan.base.to_dict(),
        "over": {axis.name: _values(axis) for axis in plan.axes},
        "kinds": {axis.name: axis.kind for axis in plan.axes},
        "method": plan.method,
        "n": plan.n or None,
        "paired_seeds": plan.paired,
        "when": [[c._asdict() for c in conditions] for conditions in plan.when],
    }


def _values(axis: Axis) -> Any:
    if isinstance(axis.range, Range):
        return {"low": axis.range.low, "high": axis.range.high, "log": axis.range.log}
    return list(axis.values)
