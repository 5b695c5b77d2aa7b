"""For which costs a verdict flips: one cost row at a time, over its range and ten times beyond."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from vringlab import CostRow, Scenario, cost_rows, run_many
from vringlab.experiments.vmap_claims.question import Question

BEYOND = 10.0  # how far outside its 5-95 % range a row is tried
FAR = 100.0  # a row isn't tried beyond its range if inside it moves less than the margin / FAR
HALVINGS = 7  # of an interval of a decade or two: to some percent; inside the range, less
PROBE_PACKETS = 1000  # enough to see whether a row matters
AT_ONCE = 200  # values: their runs are dropped before the next

Point = tuple[Question, str, float]
"""A question, a cost row by name, or none, and its value."""


@dataclass(frozen=True)
class RowEffect:
    """What one cost row does to one question's value."""

    question: Question
    row: CostRow
    best: float
    """The row's value in the scenarios, fitted or prior."""
    values: dict[float, float]
    """The question's value by the row's."""
    flip_below: float | None = None
    """Nearest value of the row below its best where the verdict flips."""
    flip_above: float | None = None

    @property
    def low(self) -> float:
        return min(self.row.low, self.best)

    @property
    def high(self) -> float:
        return max(self.row.high, self.best)

    @property
    def effect(self) -> float:
        return abs(self.values[self.high] - self.values[self.low])

    @property
    def inside(self) -> bool:
        """Does the verdict flip inside the row's range?"""
        below = self.flip_below is not None and self.flip_below >= self.low
        return below or (self.flip_above is not None and self.flip_above <= self.high)

    def keeps(self, value: float) -> bool:
        """Is the verdict at this value that at the row's best?"""
        margin = self.question.margin
        return (margin(value) >= 0) == (margin(self.values[self.best]) >= 0)

    def reaches(self) -> bool:
        """May the verdict flip beyond the range?"""
        return FAR * self.effect >= abs(self.question.margin(self.values[self.best]))

    def in_range(self) -> list[float]:
        """The question's values while the row stays inside its range."""
        return [value for at, value in self.values.items() if self.low <= at <= self.high]


@dataclass(frozen=True)
class Sensitivity:
    """A question answered, and how the answer hangs on the costs."""

    question: Question
    value: float
    effects: tuple[RowEffect, ...]
    """Of the rows that matter, the greatest effect first."""

    @cached_property
    def verdict(self) -> str:
        if self.question.open:
            return "open"
        if any(effect.inside for effect in self.effects):
            return "depends"
        return "holds" if self.question.margin(self.value) >= 0 else "does not hold"

    @property
    def low(self) -> float:
        return min([self.value, *(v for e in self.effects for v in e.in_range())])

    @property
    def high(self) -> float:
        return max([self.value, *(v for e in self.effects for v in e.in_range())])


def _values(wanted: Sequence[Point], packets: int | None = None) -> list[float]:
    """The questions' values with one row changed. Equal scenarios run once, results don't stay."""
    found: dict[Point, float] = {}
    by_row = sorted(dict.fromkeys(wanted), key=lambda point: point[1:])
    for i in range(0, len(by_row), AT_ONCE):
        points = by_row[i : i + AT_ONCE]
        sets = [[_set(s, row, at, packets) for s in q.scenarios] for q, row, at in points]
        unique = list(dict.fromkeys(s for scenarios in sets for s in scenarios))
        results = dict(zip(unique, run_many(unique), strict=True))
        for point, scenarios in zip(points, sets, strict=True):
            found[point] = point[0].measure(*(results[s] for s in scenarios))
    return [found[point] for point in wanted]


def _set(scenario: Scenario, row: str, at: float, packets: int | None) -> Scenario:
    changed = scenario.replace(costs={**scenario.costs, row: at} if row else scenario.costs)
    return changed.replace(packets=packets) if packets else changed


def sensitivities(questions: Iterable[Question]) -> list[Sensitivity]:
    """All questions answered, and for each row that matters where the answer flips."""
    asked = list(questions)
    values = dict(zip(asked, _values([_as_it_is(q) for q in asked]), strict=True))
    effects = sorted(_flips(_effects(values)), key=lambda e: (-e.effect, e.row.name))
    return [
        Sensitivity(q, value, tuple(e for e in effects if e.question is q))
        for q, value in values.items()
    ]


def _effects(asked: Mapping[Question, float]) -> list[RowEffect]:
    """The questions' values over the range of each row that matters, and where it may, beyond."""
    pairs = [(q, row) for q in asked if q.scenarios and not q.fixed for row in cost_rows()]
    pairs = [pair for pair, matters in zip(pairs, _matter(pairs), strict=True) if matters]
    effects = [RowEffect(q, row, _best(q, row), {_best(q, row): asked[q]}) for q, row in pairs]
    _try(effects, [{e.low, e.high} - {e.best} for e in effects])
    _try(effects, [_beyond(e) if e.reaches() else set() for e in effects])
    return effects


def _best(question: Question, row: CostRow) -> float:
    return question.scenarios[0].costs.get(row.name, row.best)


def _try(effects: Sequence[RowEffect], points: Sequence[set[float]]) -> None:
    wanted = [
        (e.question, e.row.name, at) for e, own in zip(effects, points, strict=True) for at in own
    ]
    found = iter(_values(wanted))
    for effect, own in zip(effects, points, strict=True):
        effect.values.update((at, next(found)) for at in own)


def _matter(pairs: Sequence[tuple[Question, CostRow]]) -> list[bool]:
    most = _values([(q, row.name, _most(row)) for q, row in pairs], PROBE_PACKETS)
    base = _values([_as_it_is(q) for q, _ in pairs], PROBE_PACKETS)
    return [a != b for a, b in zip(most, base, strict=True)]


def _as_it_is(question: Question) -> Point:
    return question, "", 0.0


def _most(row: CostRow) -> float:
    return min(row.high * BEYOND, 1.0 if row.unit == "fraction" else math.inf)


def _beyond(effect: RowEffect) -> set[float]:
    return {effect.low / BEYOND, max(effect.high, _most(effect.row))} - effect.values.keys()


def _flips(effects: Sequence[RowEffect]) -> list[RowEffect]:
    below = _bisected(effects, [_bracket(e, -1) for e in effects])
    above = _bisected(effects, [_bracket(e, 1) for e in effects])
    return [
        replace(e, flip_below=low, flip_above=high)
        for e, low, high in zip(effects, below, above, strict=True)
    ]


def _bracket(effect: RowEffect, sign: int) -> tuple[float, float] | None:
    """The first two neighbours, going from best down or up, between which the verdict flips."""
    inner = effect.best
    for at in sorted(effect.values, key=lambda at: at * sign):
        if (at - effect.best) * sign > 0:
            if not effect.keeps(effect.values[at]):
                return inner, at
            inner = at
    return None


def _bisected(
    effects: Sequence[RowEffect], brackets: list[tuple[float, float] | None]
) -> list[float | None]:
    """Halves all brackets together, in the logarithm of the row."""
    for _ in range(HALVINGS):
        at = [i for i, bracket in enumerate(brackets) if bracket is not None]
        middles = [math.sqrt(math.prod(brackets[i] or ())) for i in at]
        points = [
            (effects[i].question, effects[i].row.name, m) for i, m in zip(at, middles, strict=True)
        ]
        for i, middle, value in zip(at, middles, _values(points), strict=True):
            inner, outer = brackets[i] or (middle, middle)
            brackets[i] = (middle, outer) if effects[i].keeps(value) else (inner, middle)
    return [None if b is None else _three(math.sqrt(b[0] * b[1])) for b in brackets]


def _three(value: float) -> float:
    return float(f"{value:.3g}")
