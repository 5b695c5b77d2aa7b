"""claims.csv, flips.csv and report.md: the same numbers as tables and as text."""

from collections.abc import Iterable
from dataclasses import dataclass

from vringlab import version
from vringlab.experiments.vmap_claims.flips import BEYOND, RowEffect, Sensitivity

CLAIM_COLUMNS = (
    "claim",
    "statement",
    "who",
    "quantity",
    "unit",
    "value",
    "low",
    "high",
    "at_least",
    "at_most",
    "verdict",
)
FLIP_COLUMNS = (
    "claim",
    "row",
    "unit",
    "row_low",
    "row_best",
    "row_high",
    "value_at_low",
    "value_at_high",
    "margin_at_low",
    "margin_at_high",
    "flips_below",
    "flips_above",
    "inside",
)
SHOWN = 6  # rows of costs a statement in the report
LONGEST = 30  # rows of a table that still stands in the report

HEAD = f"""# The argument about direct access, decided by the model

Every number here is simulated, by vringlab {version}, with the costs that experiments/vmap fitted.
A statement **holds** or **does not hold** where that is so at these costs and stays so while any
one cost row runs over its 5-95 % range; otherwise it **depends**. In brackets: the least and the
greatest value on the way. Rows that flip the verdict further out, up to {BEYOND:g} times beyond the
range, are named as well.
"""


def claim_row(s: Sensitivity) -> tuple[object, ...]:
    q = s.question
    if q.open:
        return (q.id, q.statement, q.who, *[None] * 7, s.verdict)
    values = (s.value, s.low, s.high, _finite(q.at_least), _finite(q.at_most))
    return (q.id, q.statement, q.who, q.quantity, q.unit, *values, s.verdict)


def flip_row(e: RowEffect) -> tuple[object, ...]:
    at_low, at_high = e.values[e.low], e.values[e.high]
    margins = e.question.margin(at_low), e.question.margin(at_high)
    flips = e.flip_below, e.flip_above, "yes" if e.inside else "no"
    row = (e.question.id, e.row.name, e.row.unit, e.low, e.best, e.high)
    return (*row, at_low, at_high, *margins, *flips)


@dataclass(frozen=True)
class Claim:
    """One claim, answered."""

    letter: str
    title: str
    note: str
    answers: tuple[Sensitivity, ...]
    columns: tuple[str, ...]
    rows: list[tuple[object, ...]]
    figure: bool


def report(claims: Iterable[Claim]) -> str:
    return HEAD + "".join(part for claim in claims for part in _claim(claim))


def _claim(claim: Claim) -> Iterable[str]:
    yield f"\n## {claim.letter}. {claim.title}\n\n"
    yield "| who | statement | verdict | simulated | holds with |\n|---|---|---|---|---|\n"
    yield from (_statement(s) for s in claim.answers)
    yield f"\n{claim.note}\n\n"
    yield from (_flips(s) for s in claim.answers if not s.question.open)
    if claim.figure:
        yield f"\n![simulated]({claim.letter}.png)\n"
    if len(claim.rows) <= LONGEST:
        yield f"\nSimulated:\n\n| {' | '.join(claim.columns)} |\n|{'---|' * len(claim.columns)}\n"
        yield from (f"| {' | '.join(map(_cell, row))} |\n" for row in claim.rows)
    else:
        yield f"\nThe {len(claim.rows)} cases are in `{claim.letter}.csv`.\n"


def _statement(s: Sensitivity) -> str:
    q = s.question
    if q.open:
        return f"| {q.who} | {q.statement} | **open** | {q.open} | |\n"
    value = f"{q.quantity}: {_short(s.value)} {q.unit} ({_short(s.low)} to {_short(s.high)})"
    return f"| {q.who} | {q.statement} | **{s.verdict}** | {value} | {q.condition()} |\n"


def _flips(s: Sensitivity) -> str:
    flips = [e for e in s.effects if e.flip_below is not None or e.flip_above is not None]
    flips.sort(key=lambda e: not e.inside)
    if not flips:
        return f"- {s.question.id}: no single cost flips it.\n"
    rest = f"; and {len(flips) - SHOWN} rows more" if len(flips) > SHOWN else ""
    return f"- {s.question.id} flips with {'; '.join(_flip(e) for e in flips[:SHOWN])}{rest}.\n"


def _flip(e: RowEffect) -> str:
    sides = [
        f"{word} {_short(at)}"
        for word, at in (("below", e.flip_below), ("above", e.flip_above))
        if at is not None
    ]
    where = "inside" if e.inside else "outside"
    best = f"{_short(e.best)}, range {_short(e.low)} to {_short(e.high)}: {where}"
    return f"`{e.row.name}` {' or '.join(sides)} {e.row.unit} ({best})"


def _finite(bound: float) -> float | None:
    return bound if abs(bound) != float("inf") else None


def _short(value: float) -> str:
    # By way of the table's digits: both files round the same number.
    return format(float(f"{value:.6g}") or 0.0, ".3g")


def _cell(value: object) -> str:
    if isinstance(value, float):
        return format(value or 0.0, ".4g")
    return "" if value is None else str(value)
