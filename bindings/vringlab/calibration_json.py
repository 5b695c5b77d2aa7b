"""Calibrations as JSON: one line a point, a parameter, a row of the covariance."""

import json
import math
import re
from collections.abc import Callable, Iterable
from dataclasses import asdict
from typing import Any, NoReturn, TypeVar

from vringlab._fields import as_str
from vringlab.calibration import Calibration, FittedPoint, positive
from vringlab.costs import CostPrior

_T = TypeVar("_T")
_MAX_CHARACTERS = 10**7
_SHA256 = re.compile("[0-9a-f]{64}")
_DOCUMENT = (
    "version",
    "data_sha256",
    "tolerance",
    "points",
    "parameters",
    "log_covariance",
    "sample",
)
_POINT = ("id", "rate_pps", "relative_sigma", "predicted_pps")
_PARAMETER = ("name", "low", "best", "high", "value")


def write(c: Calibration) -> str:
    parameters = (asdict(p) | {"value": v} for p, v in zip(c.priors, c.values, strict=True))
    return (
        "{\n"
        f'  "version": {json.dumps(c.version)},\n'
        f'  "data_sha256": {json.dumps(c.data_sha256)},\n'
        f'  "tolerance": {json.dumps(c.tolerance)},\n'
        f'  "points": {_lines(map(asdict, c.points))},\n'
        f'  "parameters": {_lines(parameters)},\n'
        f'  "log_covariance": {_lines(c.log_covariance)},\n'
        f'  "sample": {_lines(c.sample)}\n'
        "}\n"
    )


def parse(text: str) -> dict[str, Any]:
    """The arguments of Calibration. ValueError that says where the text is wrong."""
    document = _object("calibration", _load(text), _DOCUMENT)
    parameters = _each("parameters", document["parameters"], _parameter)
    return {
        "priors": tuple(prior for prior, _ in parameters),
        "values": tuple(value for _, value in parameters),
        "log_covariance": tuple(_each("log_covariance", document["log_covariance"], _row)),
        "sample": tuple(_each("sample", document["sample"], _draw)),
        "points": tuple(_each("points", document["points"], _point)),
        "data_sha256": _sha256(document["data_sha256"]),
        "version": _text("version", document["version"]),
        "tolerance": _positive("tolerance", document["tolerance"]),
    }


def _lines(rows: Iterable[Any]) -> str:
    lines = ",\n".join(f"    {json.dumps(row)}" for row in rows)
    return f"[\n{lines}\n  ]"


def _load(text: str) -> Any:
    if len(as_str("calibration", text)) > _MAX_CHARACTERS:
        raise ValueError(f"calibration: more than {_MAX_CHARACTERS} characters")
    try:
        return json.loads(text, parse_constant=_refuse, object_pairs_hook=_unique)
    except RecursionError:
        raise ValueError("calibration: nested too deeply") from None
    except ValueError as error:
        raise ValueError(f"calibration: {error}") from None


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not a number of JSON")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        raise ValueError("a name comes twice in an object")
    return fields


def _object(where: str, value: Any, names: tuple[str, ...]) -> dict[str, Any]:
    if not isinstance(value, dict) or value.keys() != set(names):
        raise ValueError(f"{where}: must be an object of {', '.join(names)}, not {value!r:.80}")
    return value


def _each(where: str, value: Any, parse_one: Callable[[str, Any], _T]) -> list[_T]:
    if not isinstance(value, list):
        raise ValueError(f"{where}: must be a list, not {value!r:.80}")
    return [parse_one(f"{where}[{i}]", item) for i, item in enumerate(value)]


def _parameter(where: str, value: Any) -> tuple[CostPrior, float]:
    fields = _object(where, value, _PARAMETER)
    name = _text(f"{where}.name", fields["name"])
    low, best, high, fitted = (_positive(f"{where}.{n}", fields[n]) for n in _PARAMETER[1:])
    if low == high:
        raise ValueError(f"{where}: low must be below high")
    return CostPrior(name, low, best, high), fitted


def _point(where: str, value: Any) -> FittedPoint:
    fields = _object(where, value, _POINT)
    numbers = {name: _positive(f"{where}.{name}", fields[name]) for name in _POINT[1:]}
    return FittedPoint(id=_text(f"{where}.id", fields["id"]), **numbers)


def _row(where: str, value: Any) -> tuple[float, ...]:
    return tuple(_each(where, value, _finite))


def _draw(where: str, value: Any) -> tuple[float, ...]:
    return tuple(_each(where, value, _positive))


def _finite(where: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ValueError(f"{where}: must be a number, not {value!r:.80}")
    # An integer of many digits neither fits a float nor can be printed.
    if abs(value) > 1e300 or not math.isfinite(value):
        raise ValueError(f"{where}: must be finite")
    return float(value)


def _positive(where: str, value: Any) -> float:
    return positive(where, _finite(where, value))


def _text(where: str, value: Any) -> str:
    if not isinstance(value, str) or not 0 < len(value) <= 200:
        raise ValueError(f"{where}: must be text of at most 200 characters, not {value!r:.80}")
    return value


def _sha256(value: Any) -> str:
    if not isinstance(value, str) or not _SHA256.fullmatch(value):
        raise ValueError(f"data_sha256: must be 64 hexadecimal digits, not {value!r:.80}")
    return value
