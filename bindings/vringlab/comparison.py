"""What one simulated run gains over another, and where."""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from vringlab.run_result import Result


@dataclass(frozen=True, slots=True)
class Difference:
    """What one cost in one step takes in both runs, in exact picoseconds a packet."""

    step: str
    cost: str
    a_ps: Fraction
    b_ps: Fraction

    @property
    def delta_ps(self) -> Fraction:
        """b - a: negative where b is faster."""
        return self.b_ps - self.a_ps

    @property
    def delta_ns(self) -> float:
        return float(self.delta_ps / 1000)

    def __repr__(self) -> str:
        return f"Difference({self.step}, {self.cost}: {self.delta_ns:+.4g} ns per packet)"


@dataclass(frozen=True, slots=True, repr=False)
class Comparison:
    """Run b against run a: the waterfall of the difference in one core's busy time a packet.

    >>> import vringlab as vl
    >>> user = vl.run(vl.Scenario(packets=1000))
    >>> vmap = vl.run(vl.Scenario(packets=1000, plan=vl.AccessPlan.vmap()))
    >>> comparison = vl.compare(user, vmap)
    >>> comparison.gain_percent > 0
    True
    >>> comparison.residual_ps
    Fraction(0, 1)
    """

    a: Result
    b: Result
    core: str
    rows: tuple[Difference, ...]
    """By (step, cost); the largest saving of b first, the largest extra last."""

    @property
    def gain_percent(self) -> float:
        """What b gains in packets a second, in percent of a."""
        return 100 * (self.b.rate_pps / self.a.rate_pps - 1)

    @property
    def delta_ps(self) -> Fraction:
        """The difference in busy picoseconds a packet, b - a, exact."""
        return _per_packet(self.b, self.core) - _per_packet(self.a, self.core)

    @property
    def delta_ns(self) -> float:
        """The same in nanoseconds."""
        return float(self.delta_ps / 1000)

    @property
    def residual_ps(self) -> Fraction:
        """What the rows do not explain of `delta_ps`: zero, or a ledger is wrong."""
        return self.delta_ps - sum((row.delta_ps for row in self.rows), Fraction(0))

    def by(self, axis: str) -> dict[str, float]:
        """The difference in nanoseconds a packet by "step" or by "cost", savings first."""
        if axis not in ("step", "cost"):
            raise ValueError(f'axis = "{axis}": must be one of step, cost')
        sums: dict[str, Fraction] = {}
        for row in self.rows:
            name = row.step if axis == "step" else row.cost
            sums[name] = sums.get(name, Fraction(0)) + row.delta_ps
        return {name: float(ps / 1000) for name, ps in sorted(sums.items(), key=lambda i: i[1])}

    def summary(self, *, most: int = 15) -> str:
        """The `most` largest differences and the rest, as a text table in ns a packet."""
        return "\n".join(_summary(self, most))

    def __repr__(self) -> str:
        return f"Comparison({self._headline()})"

    def _headline(self) -> str:
        rates = f"simulated {self.a.rate_mpps:.4g} -> {self.b.rate_mpps:.4g} Mpps"
        delta = f"{self.core} {self.delta_ns:+.4g} ns per packet"
        return f"{rates}, {self.gain_percent:+.2f} %, {delta}"


def compare(a: Result, b: Result, *, core: str = "worker") -> Comparison:
    """Where b is faster or slower than a: see Comparison. The scenarios may differ in anything."""
    for name, result in (("a", a), ("b", b)):
        if not isinstance(result, Result):
            raise TypeError(f"{name} must be a Result, not {type(result).__name__}: {result!r:.80}")
        if not result.packets:
            raise ValueError(f"{name}: no packet reached the sink, so there is no time a packet")
    left, right = _cells(a, core), _cells(b, core)
    zero = Fraction(0)
    rows = (Difference(*k, left.get(k, zero), right.get(k, zero)) for k in left.keys() | right)
    return Comparison(a, b, core, tuple(sorted(rows, key=lambda r: (r.delta_ps, r.step, r.cost))))


def _per_packet(result: Result, core: str) -> Fraction:
    return Fraction(result.core(core).busy_ps, result.packets)


def _cells(result: Result, core: str) -> dict[tuple[str, str], Fraction]:
    ledger = result.core(core).ledger
    return {(row.step, row.cost): Fraction(row.ps, result.packets) for row in ledger}


def _summary(c: Comparison, most: int) -> Iterable[str]:
    largest = sorted(c.rows, key=lambda row: -abs(row.delta_ps))[:most]
    rest = sum((row.delta_ps for row in c.rows if row not in largest), Fraction(0))
    yield c._headline()
    yield f"a: {c.a.scenario!r}"
    yield f"b: {c.b.scenario!r}"
    yield f"{'step':16} {'cost':18} {'a ns':>9} {'b ns':>9} {'b - a':>9}"
    for row in (row for row in c.rows if row in largest):
        a, b = float(row.a_ps / 1000), float(row.b_ps / 1000)
        yield f"{row.step:16} {row.cost:18} {a:9.3f} {b:9.3f} {row.delta_ns:+9.3f}"
    if len(largest) < len(c.rows):
        yield f"{f'{len(c.rows) - len(largest)} more':55} {float(rest / 1000):+9.3f}"
    a, b = (float(_per_packet(result, c.core) / 1000) for result in (c.a, c.b))
    yield f"{f'{c.core} busy':35} {a:9.3f} {b:9.3f} {c.delta_ns:+9.3f}"
    yield f"residual: {c.residual_ps} ps"
