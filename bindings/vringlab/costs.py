"""Cost rows, hosts and kernels: the constants of the machine model and where they come from."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import Any

from vringlab import _native
from vringlab._fields import as_float, as_str

CLOCK = "clock_ghz"
"""Not a row, but set like one: the clock of the host's cores."""


@dataclass(frozen=True, slots=True)
class CostRow:
    """A constant of the machine model. low..high is a 5-95 % range around best."""

    name: str
    unit: str
    """cycles, ns, us, cycles/B, fraction, GB/s, MB/s or count."""
    low: float
    best: float
    high: float
    at_ghz: float
    """For a time of instructions: the clock it was measured at; 0 where none matters."""
    cpu: str
    evidence: str
    source: str


@dataclass(frozen=True, slots=True)
class Host:
    """A processor: its clock in GHz, its cache sizes, and the variants of costs that it pays."""

    name: str
    doc: str
    clock_ghz: tuple[float, float, float]
    """low, best, high."""
    stac_clac: str
    lfence: str
    copy_startup: str
    transfer_socket: str
    apic_exits: int
    """Exits of a guest that halts and is interrupted, to program its interrupt controller."""
    l1_bytes: int
    l2_bytes: int
    l3_bytes: int


@dataclass(frozen=True, slots=True)
class Kernel:
    """What a kernel was built and booted with."""

    name: str
    doc: str
    smap: bool
    nospec: bool
    copy_nospec: bool
    retpoline: bool
    kpti: bool
    hardened_usercopy: bool
    old_vmm: bool
    """A VMM of its time loads each field of a descriptor by its guest address."""
    frag_bias: bool
    """References of a page that frames are cut from are taken many at once, not one a frame."""


@dataclass(frozen=True, slots=True)
class CostPrior:
    """A 5-95 % range low..high around best for the cost row `name`, in the row's own unit.

    "row@host" is that row on one host only; "row*host" a factor of the row on one host.

    >>> CostPrior("access_ok", 1, 2, 5)
    CostPrior(name='access_ok', low=1.0, best=2.0, high=5.0)
    >>> CostPrior("access_ok", 3, 2, 5)
    Traceback (most recent call last):
    ValueError: access_ok: low = 3.0: must be at most best = 2.0
    """

    name: str
    low: float
    best: float
    high: float

    def __post_init__(self) -> None:
        row, at, host = split_name(as_str("name", self.name))
        if row not in (*_rows_by_name(), CLOCK):
            raise ValueError(f'name = "{self.name}": there is no such cost row')
        if at and host not in (known.name for known in hosts()):
            raise ValueError(f'name = "{self.name}": there is no such host')
        for field in ("low", "best", "high"):
            object.__setattr__(self, field, self._bound(field))
        self._ordered("low", "best")
        self._ordered("best", "high")

    def _bound(self, field: str) -> float:
        value = as_float(f"{self.name}: {field}", getattr(self, field))
        name, at, _ = split_name(self.name)
        row = _rows_by_name().get(name)
        most = 1.0 if row is not None and row.unit == "fraction" and at != "*" else math.inf
        if not (math.isfinite(value) and 0 <= value <= most):
            permitted = "finite and not negative" if most > 1 else "between 0 and 1"
            raise ValueError(f"{self.name}: {field} = {value}: must be {permitted}")
        return value

    def _ordered(self, lower: str, upper: str) -> None:
        low, high = getattr(self, lower), getattr(self, upper)
        if low > high:
            raise ValueError(f"{self.name}: {lower} = {low}: must be at most {upper} = {high}")


def split_name(name: str) -> tuple[str, str, str]:
    """Row, "@" or "*", and host of a parameter's name; the last two are empty where it has none.

    >>> split_name("access_ok@broadwell-2.6")
    ('access_ok', '@', 'broadwell-2.6')
    """
    return name.partition("*" if "*" in name else "@")


class Costs(Mapping[str, float]):
    """Cost rows set to other values: a mapping that is frozen, hashable and sorted by name.

    >>> Costs({"smp_mb": 20, "access_ok": 1})
    {'access_ok': 1.0, 'smp_mb': 20.0}
    """

    __slots__ = ("_values",)

    def __init__(self, values: Mapping[str, float] = MappingProxyType({})) -> None:
        if not isinstance(values, Mapping):
            raise TypeError(f"costs must be a mapping, not {type(values).__name__}: {values!r:.80}")
        checked = dict(_checked(name, value) for name, value in values.items())
        self._values = dict(sorted(checked.items()))

    def __getitem__(self, name: str) -> float:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __hash__(self) -> int:
        return hash(tuple(self._values.items()))

    def __repr__(self) -> str:
        return repr(self._values)

    def __reduce__(self) -> tuple[type["Costs"], tuple[dict[str, float]]]:
        return Costs, (self._values,)


def _checked(name: Any, value: Any) -> tuple[str, float]:
    return as_str("costs: a name", name), as_float(f'costs["{name}"]', value)


@cache
def cost_rows() -> tuple[CostRow, ...]:
    """All cost rows.

    >>> [row.unit for row in cost_rows() if row.name == "access_ok"]
    ['cycles']
    """
    names = CostRow.__dataclass_fields__
    return tuple(CostRow(*(getattr(row, n) for n in names)) for row in _native.cost_rows())


@cache
def _rows_by_name() -> dict[str, CostRow]:
    return {row.name: row for row in cost_rows()}


@cache
def hosts() -> tuple[Host, ...]:
    """The processors that `Scenario.host` names."""
    return tuple(_host(preset) for preset in _native.host_presets())


def _host(preset: _native.HostPreset) -> Host:
    values = {name: getattr(preset, name) for name in Host.__dataclass_fields__}
    clock = preset.clock_ghz
    return Host(**(values | {"clock_ghz": (clock.low, clock.best, clock.high)}))


@cache
def kernels() -> tuple[Kernel, ...]:
    """The kernels that `Scenario.kernel` names."""
    names = Kernel.__dataclass_fields__
    return tuple(Kernel(*(getattr(k, n) for n in names)) for k in _native.kernel_presets())


@dataclass(frozen=True, slots=True)
class Sink:
    """Where a transmit queue sends to.

    >>> [sink.doc for sink in sinks() if sink.name == "xdp_drop"]
    ['TAP whose XDP program drops each frame']
    """

    name: str
    doc: str
    program: bool
    """It runs an XDP program on each frame."""
    held: int
    """Frames that something behind it holds before it frees them."""


@cache
def sinks() -> tuple[Sink, ...]:
    """The sinks that `Scenario.sink` names."""
    names = Sink.__dataclass_fields__
    return tuple(Sink(*(getattr(s, n) for n in names)) for s in _native.sink_infos())
