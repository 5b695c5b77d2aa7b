"""Checks of the types of fields: what they name, and a value of exactly the declared type."""

import math
import operator
from typing import Any

import numpy as np


def as_bool(field: str, value: Any) -> bool:
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(_wrong(field, "a bool", value))
    return bool(value)


def as_int(field: str, value: Any) -> int:
    """Any integer, numpy's too, but no bool and no float, be it whole."""
    if isinstance(value, bool):
        raise TypeError(_wrong(field, "an int", value))
    try:
        return operator.index(value)
    except TypeError:
        raise TypeError(_wrong(field, "an int", value)) from None


def as_float(field: str, value: Any) -> float:
    """Any real number but a bool; one too large for a float becomes an infinity."""
    if isinstance(value, bool) or not isinstance(value, (int, float, np.integer, np.floating)):
        raise TypeError(_wrong(field, "a number", value))
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def as_str(field: str, value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(_wrong(field, "a str", value))
    try:
        value.encode()
    except UnicodeEncodeError:
        raise ValueError(f"{field} = {value!a}: must be text that UTF-8 can encode") from None
    if "\0" in value:  # would end the messages of the simulator
        raise ValueError(f"{field} = {value!a}: must be text without NUL")
    return str(value)


def one_of(field: str, value: Any, permitted: tuple[str, ...]) -> str:
    name = as_str(field, value)
    if name not in permitted:
        raise ValueError(f'{field} = "{name}": must be one of {", ".join(permitted)}')
    return name


def _wrong(field: str, expected: str, value: Any) -> str:
    return f"{field} must be {expected}, not {type(value).__name__}: {value!r:.80}"
