"""The points of a sweep: which values the axes take together, and each point's key."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vringlab import _native
from vringlab._fields import as_int
from vringlab.scenario import Scenario
from vringlab.sweeps.axes import GROUPS, Axis, axes_of, check_name, to_json

METHODS = ("grid", "random", "lhs", "sobol")
SEED_AXIS = "seed"

Values = tuple[Any, ...]
"""One JSON value an axis, in their order; None where a condition leaves the axis out."""


class Point(NamedTuple):
    """One scenario of a sweep."""

    key: str
    """SHA-256 of the scenario, the costs and the version, in hex."""
    values: Values
    changes: str
    """The fields of the scenario that are not the base's, as JSON."""


class Condition(NamedTuple):
    """A field has one of these values."""

    axis: int | None
    """The axis that says which value the field has; None: the base does."""
    member: str | None
    """The field's name in the value of that axis, if the axis is a whole group."""
    base: Any
    """The value of the base."""
    permitted: tuple[Any, ...]

    def holds(self, chosen: Values) -> bool:
        value = None if self.axis is None else chosen[self.axis]
        if value is not None and self.member is not None:
            value = value.get(self.member)
        return (self.base if value is None else value) in self.permitted


class Plan(NamedTuple):
    """What a sweep is to run, checked."""

    base: Scenario
    axes: tuple[Axis, ...]
    paired: bool
    """The last axis is the seeds that each point of the others is run with."""
    when: tuple[tuple[Condition, ...], ...]
    """By axis: what must hold, or else the axis keeps the base's value."""
    method: str
    n: int
    seed: int


def plan_of(
    base: Scenario,
    over: Mapping[str, Any],
    *,
    method: str = "grid",
    n: int | None = None,
    seed: int = 0,
    seeds: Sequence[int] = (),
    when: Mapping[str, Mapping[str, Any]] | None = None,
) -> Plan:
    """Checks what a sweep is asked for."""
    if method not in METHODS:
        raise ValueError(f'method = "{method}": must be one of {", ".join(METHODS)}')
    axes = axes_of(over, method)
    paired = axes_of({SEED_AXIS: seeds}, "grid") if len(seeds) else ()
    if paired and SEED_AXIS in over:
        raise ValueError("seeds: must not be given where seed is an axis")
    conditions = _conditions(base, axes, when or {}) + ((),) * len(paired)
    count, start = _count(method, n), as_int("seed", seed)
    if start < 0:
        raise ValueError(f"seed = {start}: must not be negative")
    return Plan(base, axes + paired, bool(paired), conditions, method, count, start)


def points(plan: Plan) -> Iterator[Point]:
    """The points, in an order that depends on the plan only; each scenario once."""
    keys = KeyMaker(plan.base, plan.axes)
    if plan.method == "grid":
        return map(keys.point, _grid(plan))
    return _distinct(map(keys.point, _sampled(plan)))


def key_of(scenario: Scenario) -> str:
    """The key of a point: what its result depends on, and nothing else.

    >>> key_of(Scenario()) == key_of(Scenario(packets=100000)) != key_of(Scenario(packets=1))
    True
    """
    return _hashed(_object(_members(scenario.to_dict())))


def scenario_of(base: Scenario, changes: Mapping[str, Any]) -> Scenario:
    """The scenario that has these fields, as JSON knows them, and else those of base."""
    from vringlab.access_plan import AccessPlan
    from vringlab.blk import Blk

    make: dict[str, Any] = {"plan": AccessPlan, "blk": Blk}
    made = {k: make[k](**value) if k in make else value for k, value in changes.items()}
    return base.replace(**made)


class KeyMaker:
    """Makes the points of a sweep: only what differs from the base is encoded for each."""

    def __init__(self, base: Scenario, axes: Sequence[Axis]) -> None:
        fields = base.to_dict()
        self._base = _members(fields)
        self._groups = {group: _members(fields[group]) for group in GROUPS}
        # A group as a whole comes before its members, which may change it.
        whole_first = sorted(enumerate(axes), key=lambda item: item[1].group != "")
        self._axes = [(place, axis.group, axis.member) for place, axis in whole_first]

    def point(self, values: Values) -> Point:
        changed: dict[str, str] = {}
        groups: dict[str, dict[str, str]] = {}
        for place, group, member in self._axes:
            value = values[place]
            if value is None:
                continue
            if group:
                groups.setdefault(group, dict(self._groups[group]))[member] = _member(member, value)
            elif member in GROUPS:
                groups[member] = _members(value)
            else:
                changed[member] = _member(member, value)
        for group, members in groups.items():
            changed[group] = f'"{group}":{_object(members)}'
        # The base is in order already, and has all fields.
        scenario = f"{{{','.join((self._base | changed).values())}}}"
        return Point(_hashed(scenario), values, _object(changed))


def _members(fields: Mapping[str, Any]) -> dict[str, str]:
    """The members of a JSON object by name, in order."""
    return {name: _member(name, value) for name, value in sorted(fields.items())}


def _member(name: str, value: Any) -> str:
    return f'"{name}":{value if type(value) is int else to_json(value)}'


def _object(members: Mapping[str, str]) -> str:
    return f"{{{','.join([members[name] for name in sorted(members)])}}}"


def _hashed(scenario: str) -> str:
    return hashlib.sha256(f"{_HEAD}{scenario}{_TAIL}".encode()).hexdigest()


_HEAD = f'{{"model":{to_json(_native.model())},"scenario":'
_TAIL = f',"version":{to_json(_native.version)}}}'


# --- which values go together ---------------------------------------------------------------------


def _grid(plan: Plan) -> Iterator[Values]:
    """All combinations, the last axis fastest."""

    def extended(chosen: Values) -> Iterator[Values]:
        if len(chosen) == len(plan.axes):
            yield chosen
            return
        for value in plan.axes[len(chosen)].values if _active(plan, chosen) else (None,):
            yield from extended((*chosen, value))

    return extended(())


def _sampled(plan: Plan) -> Iterator[Values]:
    """n draws, each with all of the paired seeds."""
    drawn = plan.axes[:-1] if plan.paired else plan.axes
    seeds = [(seed,) for seed in plan.axes[-1].values] if plan.paired else [()]
    for row in _unit_cube(plan.method, plan.n, len(drawn), plan.seed):
        values: Values = ()
        for axis, u in zip(drawn, row.tolist(), strict=True):
            values += (axis.drawn(u) if _active(plan, values) else None,)
        for seed in seeds:
            yield values + seed


def _active(plan: Plan, chosen: Values) -> bool:
    """Does the axis after those chosen take part?"""
    return all(condition.holds(chosen) for condition in plan.when[len(chosen)])


def _unit_cube(method: str, n: int, dimensions: int, seed: int) -> NDArray[np.float64]:
    """n rows of numbers in [0, 1)."""
    if not dimensions:
        return np.zeros((1, 0))
    if method == "random":
        return np.random.default_rng(seed).random((n, dimensions))
    from scipy.stats import qmc

    if method == "lhs":
        sampled = qmc.LatinHypercube(dimensions, rng=seed).random(n)
    else:
        sampled = qmc.Sobol(dimensions, rng=seed).random_base2(n.bit_length() - 1)
    return np.clip(np.asarray(sampled, dtype=np.float64), 0, np.nextafter(1, 0))


def _distinct(points: Iterator[Point]) -> Iterator[Point]:
    seen: set[bytes] = set()
    for point in points:
        key = bytes.fromhex(point.key)
        if key not in seen:
            seen.add(key)
            yield point


# --- checks ---------------------------------------------------------------------------------------


def _count(method: str, n: int | None) -> int:
    if method == "grid":
        if n is not None:
            raise ValueError(f"n = {n}: is of random, lhs and sobol; a grid has all combinations")
        return 0
    if n is None or as_int("n", n) < 1:
        raise ValueError(f"n = {n}: must be at least 1 for {method}")
    if method == "sobol" and n & (n - 1):
        raise ValueError(f"n = {n}: must be a power of two for sobol")
    return int(n)


def _conditions(
    base: Scenario, axes: Sequence[Axis], when: Mapping[str, Mapping[str, Any]]
) -> tuple[tuple[Condition, ...], ...]:
    names = [axis.name for axis in axes]
    for name in when:
        if name not in names:
            raise ValueError(f'when: "{name}": must be one of the axes {", ".join(names)}')
    return tuple(
        tuple(
            _condition(base, names, place, field, value)
            for field, value in when.get(name, {}).items()
        )
        for place, name in enumerate(names)
    )


def _condition(
    base: Scenario, names: Sequence[str], place: int, field: str, value: Any
) -> Condition:
    what = f'when: "{names[place]}": field'
    check_name(what, field)
    group, _, member = field.partition(".")
    source = field if field in names else group
    if source in names and names.index(source) >= place:
        raise ValueError(f'{what} "{field}": must stand before "{names[place]}" in over')
    if field in GROUPS and field not in names:
        raise ValueError(f'{what} "{field}": must be a member of it, as in "{field}.NAME"')
    values = value if isinstance(value, (list, tuple, set, frozenset)) else [value]
    permitted = axes_of({field: values}, "grid")[0].values
    known = base.to_dict()[group]
    return Condition(
        names.index(source) if source in names else None,
        member if source != field else None,
        known.get(member) if member else known,
        permitted,
    )
