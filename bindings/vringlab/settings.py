"""Scenarios as FIELD=VALUE settings, as on a command line."""

from collections.abc import Callable, Sequence
from dataclasses import fields
from typing import Annotated, Any

import typer

from vringlab.access_plan import AccessPlan
from vringlab.blk import Blk
from vringlab.scenario import Scenario

Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="FIELD=VALUE",
        help="A field of the scenario, as in packets=1000, plan=vmap, plan.guard=atomic, "
        "plan.mapped=desc,used, blk.disk=ram, costs.access_ok=3. May be repeated.",
    ),
]


def scenario_of(settings: Sequence[str]) -> Scenario:
    """The scenario with these FIELD=VALUE settings, a later one over an earlier one.

    >>> scenario_of(["packets=1000", "plan=vmap", "plan.guard=none", "costs.access_ok=3"])
    Scenario(costs={'access_ok': 3.0}, packets=1000, plan=AccessPlan.vmap("none"))
    >>> scenario_of(["workload=blk", "blk.disk=ram", "blk.queue_depth=1"])
    Scenario(workload='blk', blk=Blk(disk='ram', queue_depth=1))
    """
    scenario = Scenario()
    values: dict[str, Any] = {}
    plan: dict[str, Any] = {}
    blk: dict[str, Any] = {}
    costs: dict[str, float] = {}
    for setting in settings:
        field, equals, text = setting.partition("=")
        if not equals:
            raise ValueError(f'setting = "{setting}": must be FIELD=VALUE')
        group, _, member = field.partition(".")
        if group == "costs" and member:
            costs[member] = _parsed(field, text, float)
        elif group == "blk" and member:
            blk[member] = _blk_value(member, text)
        elif group == "plan":
            plan |= _plan_fields(member, text)
        else:
            values[field] = _value(field, text)
    return scenario.replace(**values, plan=AccessPlan(**plan), blk=Blk(**blk), costs=costs)


def _blk_value(member: str, text: str) -> Any:
    types = {f.name: f.type for f in fields(Blk)}
    if member not in types:
        raise ValueError(f"blk.{member}: must be one of {', '.join(types)}")
    return _parsed(f"blk.{member}", text, _PARSERS[types[member]])


def _value(field: str, text: str) -> Any:
    types = {f.name: f.type for f in fields(Scenario) if f.type in _PARSERS}
    if field not in types:
        raise ValueError(
            f'setting = "{field}": must be one of {", ".join(types)}, plan, blk.FIELD, costs.ROW'
        )
    return _parsed(field, text, _PARSERS[types[field]])


def _plan_fields(member: str, text: str) -> dict[str, Any]:
    if not member:
        if text not in _PLANS:
            raise ValueError(f'plan = "{text}": must be one of {", ".join(_PLANS)}')
        return _PLANS[text]().to_dict()
    if member not in AccessPlan.__dataclass_fields__:
        known = ", ".join(AccessPlan.__dataclass_fields__)
        raise ValueError(f"plan.{member}: must be one of {known}")
    return {member: [name for name in text.split(",") if name] if member == "mapped" else text}


def _boolean(text: str) -> bool:
    return {"true": True, "false": False, "1": True, "0": False}[text.lower()]


def _parsed(field: str, text: str, parser: Callable[[str], Any]) -> Any:
    try:
        return parser(text)
    except (ValueError, KeyError):
        name = {_boolean: "true or false", int: "a whole number"}.get(parser, "a number")
        raise ValueError(f'{field} = "{text}": must be {name}') from None


_PARSERS: dict[Any, Callable[[str], Any]] = {bool: _boolean, int: int, float: float, str: str}
_PLANS = {"user": AccessPlan.user, "vmap": AccessPlan.vmap}
