"""What a sweep varies: axes are fields of a scenario by name, each with values or a range."""

import difflib
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from vringlab import _native
from vringlab._fields import as_bool, as_float, as_int, as_str
from vringlab.access_plan import AccessPlan
from vringlab.blk import Blk, native_blk
from vringlab.costs import CLOCK, Costs, cost_rows
from vringlab.scenario import Scenario, set_native

GROUPS = ("plan", "blk", "costs")
"""Fields of a scenario that have members, which are axes too."""
PLANS = {"user": AccessPlan.user(), "vmap": AccessPlan.vmap()}
_CHECKS = {"bool": as_bool, "int": as_int, "float": as_float, "str": as_str}

_encode = json.JSONEncoder(sort_keys=True, separators=(",", ":"), allow_nan=False).encode


def to_json(value: Any) -> str:
    """Canonical: equal values have equal text. The encoder takes microseconds for a number."""
    return float.__repr__(value) if type(value) is float else _encode(value)


@dataclass(frozen=True, slots=True)
class Range:
    """All numbers from low to high, both among them; with `log` each factor is as likely.

    >>> Range(1, 64, log=True)
    Range(low=1, high=64, log=True)
    >>> Range(0, 64, log=True)
    Traceback (most recent call last):
    ValueError: low = 0: must be above 0 where log is set
    """

    low: float
    high: float
    log: bool = False

    def __post_init__(self) -> None:
        for name in ("low", "high"):
            if not math.isfinite(as_float(name, getattr(self, name))):
                raise ValueError(f"{name} = {getattr(self, name)}: must be finite")
        if self.low > self.high:
            raise ValueError(f"low = {self.low}: must be at most high = {self.high}")
        if as_bool("log", self.log) and self.low <= 0:
            raise ValueError(f"low = {self.low}: must be above 0 where log is set")

    def at(self, u: float) -> float:
        """The number at the share u of the range, 0 <= u < 1, with 12 digits, so that it doesn't
        depend on the last bit of a logarithm."""
        low, high = (math.log(x) if self.log else x for x in (self.low, self.high))
        x = low + u * (high - low)
        rounded = float(f"{math.exp(x) if self.log else x:.12g}")
        return min(max(rounded, self.low), self.high)

    def whole_at(self, u: float) -> int:
        """The same for whole numbers: each of them has the share that the numbers up to the next
        one have."""
        low, high = int(self.low), int(self.high)
        return min(max(math.floor(Range(low, high + 1, self.log).at(u)), low), high)


@dataclass(frozen=True, slots=True)
class Choice:
    """One of these values, each as likely.

    >>> Choice([64, 128]).values
    (64, 128)
    """

    values: Sequence[Any]

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", tuple(self.values))


@dataclass(frozen=True, slots=True)
class Axis:
    """A field that a sweep varies."""

    name: str
    """As given: "batch", "plan.guard", "costs.smp_mb"."""
    group: str
    """What the field is a member of: one of GROUPS, or "" for a field of the scenario itself."""
    member: str
    """The name of the field in its group."""
    kind: str
    """Type of a cell of its column: bool, int, float, str."""
    range: Range | None
    """What it is drawn from, if not from values."""
    values: tuple[Any, ...]
    """Each as JSON knows it."""
    labels: dict[str, Any]
    """Of values whose cell is not the value itself: the cell, by the value's JSON."""

    def drawn(self, u: float) -> Any:
        """The value at the share u, 0 <= u < 1."""
        if self.range is None:
            return self.values[int(u * len(self.values))]
        return self.range.whole_at(u) if self.kind == "int" else self.range.at(u)

    def cell(self, value: Any) -> Any:
        """The value as it stands in a table; None stays None."""
        if value is None or not self.labels:
            return value
        return self.labels[to_json(value)]


def axes_of(over: Mapping[str, Any], method: str) -> tuple[Axis, ...]:
    """The axes of `over`, in its order; a wrong name, type or value is refused by its name."""
    if not isinstance(over, Mapping):
        raise TypeError(f"over must be a mapping, not {type(over).__name__}: {over!r:.80}")
    return tuple(_axis(as_str("over: a name", name), given, method) for name, given in over.items())


def axis_names() -> tuple[str, ...]:
    """All that a sweep can vary."""
    scenario = [field.name for field in fields(Scenario)]
    plan = [f"plan.{field.name}" for field in fields(AccessPlan)]
    blk = [f"blk.{field.name}" for field in fields(Blk)]
    rows = [f"costs.{name}" for name in (CLOCK, *(row.name for row in cost_rows()))]
    return (*scenario, *plan, *blk, *rows)


def check_name(what: str, name: str) -> None:
    """ValueError with the nearest names if there is no such field."""
    known = axis_names()
    if name in known:
        return
    near = difflib.get_close_matches(name, known, n=3, cutoff=0.5)
    near += [k for k in known if k.partition(".")[2] == name and k not in near]
    hint = f": did you mean {' or '.join(near)}?" if near else ""
    raise ValueError(f'{what} "{name}": a scenario has no such field{hint}')


def _axis(name: str, given: Any, method: str) -> Axis:
    check_name("over: axis", name)
    group, dot, member = name.partition(".")
    if not dot:
        group, member = "", name
    kind = kind_of(name)
    if isinstance(given, Range):
        _check_range(name, kind, given, method)
        for bound in (given.low, given.high):
            _checked(name, group, member, int(bound) if kind == "int" else bound)
        return Axis(name, group, member, kind, given, (), {})
    checked = [_checked(name, group, member, value) for value in _listed(name, given)]
    values = tuple(value for value, _ in checked)
    texts = [to_json(value) for value in values]
    if len(set(texts)) < len(texts):
        twice = next(text for text in texts if texts.count(text) > 1)
        raise ValueError(f'over: axis "{name}": {twice} stands there twice')
    cells = [cell for _, cell in checked]
    labels = {} if cells == list(values) else dict(zip(texts, cells, strict=True))
    return Axis(name, group, member, kind, None, values, labels)


def _listed(name: str, given: Any) -> list[Any]:
    values = given.values if isinstance(given, Choice) else given
    if isinstance(values, (str, bytes, Mapping)) or not isinstance(values, Iterable):
        raise TypeError(
            f'over: axis "{name}": must be a list of values, a Range or a Choice, '
            f"not {type(values).__name__}: {values!r:.80}"
        )
    listed = list(values)
    if not listed:
        raise ValueError(f'over: axis "{name}": has no values')
    return listed


def kind_of(name: str) -> str:
    """The type of the field's cell: bool, int, float or str."""
    group, _, member = name.rpartition(".")
    if group == "costs":
        return "float"
    owner: Any = {"": Scenario, "plan": AccessPlan, "blk": Blk}[group]
    declared = next(f.type for f in fields(owner) if f.name == member)
    kind = getattr(declared, "__name__", "")
    return kind if kind in _CHECKS and name not in GROUPS else "str"


def _check_range(name: str, kind: str, given: Range, method: str) -> None:
    if method == "grid":
        raise ValueError(f'over: axis "{name}": a grid needs values, not {given}')
    if kind not in ("int", "float"):
        raise ValueError(f'over: axis "{name}": {given}: must be a Choice, it is no number')
    if kind == "int" and (given.low % 1 or given.high % 1):
        raise ValueError(f'over: axis "{name}": {given}: must have whole bounds')


def _checked(name: str, group: str, member: str, value: Any) -> tuple[Any, Any]:
    """The value as JSON knows it, and its cell in a table."""
    if name in GROUPS or group == "plan":
        return _structured(name, group, member, value)
    if group == "costs":
        checked: Any = as_float(name, value)
    else:
        checked = _CHECKS[kind_of(name)](name, value)
        set_native(_native.BlkScenario() if group == "blk" else _native.Scenario(), member, checked)
    if isinstance(checked, float) and not math.isfinite(checked):
        raise ValueError(f"{name} = {checked}: must be finite")
    return checked, checked


def _structured(name: str, group: str, member: str, value: Any) -> tuple[Any, Any]:
    if group == "plan":
        plain = AccessPlan(**{member: value}).to_dict()[member]
        return plain, ",".join(plain) if member == "mapped" else plain
    if name == "plan":
        named = PLANS.get(value) if isinstance(value, str) else value
        if named is None:
            raise ValueError(
                f'plan = "{value}": must be an AccessPlan or one of {", ".join(PLANS)}'
            )
        plan = Scenario(plan=named).plan
        return plan.to_dict(), _plan_label(plan)
    if name == "blk":
        if not isinstance(value, Blk):
            raise TypeError(f"blk must be a Blk, not {type(value).__name__}: {value!r:.80}")
        native_blk(value, set_native)  # refuses what no field can hold
        return value.to_dict(), repr(value)
    costs = Costs(value)
    for row in costs:
        check_name("over: axis", f"costs.{row}")
    return dict(costs), to_json(dict(costs))


def _plan_label(plan: AccessPlan) -> str:
    return next((name for name, known in PLANS.items() if known == plan), repr(plan))
