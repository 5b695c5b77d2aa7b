"""How a kernel design reads and writes ring metadata."""

from collections.abc import Iterable, Set
from dataclasses import dataclass, fields
from typing import Any, Self

from vringlab import _native
from vringlab._fields import one_of

AREAS = ("desc", "avail", "used")
GUARDS = tuple(_native.Guard.__members__)
USER_ACCESSES = tuple(_native.UserAccess.__members__)
SECTION_SPANS = tuple(_native.SectionSpan.__members__)
USED_ELEMENTS = tuple(_native.UsedElement.__members__)
TRANSLATIONS = tuple(_native.Translation.__members__)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class AccessPlan:
    """How vhost reaches the three areas of a ring.

    A mapped area is read and written directly, the others by user access. The defaults are those
    of a kernel that maps nothing.

    >>> AccessPlan.vmap()
    AccessPlan.vmap()
    >>> AccessPlan(mapped={"used"}, guard="atomic")
    AccessPlan(mapped={"used"}, guard="atomic")
    >>> AccessPlan(guard="luck")
    Traceback (most recent call last):
    ValueError: guard = "luck": must be one of none, rcu, counter, spinlock, atomic
    """

    mapped: Set[str] = frozenset()
    """Areas that are mapped, of "desc", "avail", "used"; any iterable, kept as a frozenset."""
    guard: str = "rcu"
    """What protects a mapping against invalidation: none, rcu, counter, spinlock, atomic."""
    user_access: str = "copy_user"
    """How other areas are reached: copy_user, masked, section, shared_fixup."""
    section_span: str = "one_area"
    """What one section covers: one_area, several_areas."""
    used_element: str = "block"
    """How a single used element is written: two_words, block."""
    translation: str = "user_address"
    """How ring addresses become host addresses: user_address, iotlb, iotlb_metadata_cache."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "mapped", _areas(self.mapped))
        one_of("guard", self.guard, GUARDS)
        one_of("user_access", self.user_access, USER_ACCESSES)
        one_of("section_span", self.section_span, SECTION_SPANS)
        one_of("used_element", self.used_element, USED_ELEMENTS)
        one_of("translation", self.translation, TRANSLATIONS)

    @classmethod
    def user(cls) -> Self:
        """Nothing mapped: every access to the ring is a user access."""
        return cls()

    @classmethod
    def vmap(cls, guard: str = "rcu") -> Self:
        """All three areas mapped, with this guard."""
        return cls(mapped=frozenset(AREAS), guard=guard)

    def to_dict(self) -> dict[str, Any]:
        """The fields, as JSON knows them.

        >>> AccessPlan.vmap().to_dict()["mapped"]
        ['desc', 'avail', 'used']
        """
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return values | {"mapped": self._areas_in_order()}

    def __repr__(self) -> str:
        if self == AccessPlan.user():
            return "AccessPlan.user()"
        if self == AccessPlan.vmap(self.guard):
            return f"AccessPlan.vmap({self._guard_argument()})"
        return f"AccessPlan({', '.join(self._changes())})"

    def _guard_argument(self) -> str:
        return "" if self.guard == "rcu" else f'"{self.guard}"'

    def _changes(self) -> list[str]:
        default = AccessPlan().to_dict()
        changed = {k: v for k, v in self.to_dict().items() if v != default[k]}
        areas = ", ".join(f'"{area}"' for area in changed.pop("mapped", ()))
        mapped = [f"mapped={{{areas}}}"] if areas else []
        return mapped + [f'{name}="{value}"' for name, value in changed.items()]

    def _areas_in_order(self) -> list[str]:
        return [area for area in AREAS if area in self.mapped]


def _areas(mapped: Any) -> frozenset[str]:
    if isinstance(mapped, str) or not isinstance(mapped, Iterable):
        raise TypeError(f"mapped must be a set of names, not {type(mapped).__name__}: {mapped!r}")
    return frozenset(one_of("mapped", area, AREAS) for area in mapped)


def native_plan(plan: AccessPlan) -> _native.AccessPlan:
    """The plan as the simulator takes it."""
    native = _native.AccessPlan()
    native.map_desc = "desc" in plan.mapped
    native.map_avail = "avail" in plan.mapped
    native.map_used = "used" in plan.mapped
    native.guard = _native.Guard[plan.guard]
    native.user_access = _native.UserAccess[plan.user_access]
    native.section_span = _native.SectionSpan[plan.section_span]
    native.used_element = _native.UsedElement[plan.used_element]
    native.translation = _native.Translation[plan.translation]
    return native
