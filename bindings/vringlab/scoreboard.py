"""The scoreboard: every published row beside what is predicted for it, and what that comes to."""

import importlib
import importlib.resources
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from statistics import median

from vringlab.calibration import six_digits
from vringlab.model_error import MODEL_SIGMA, widened
from vringlab.published import Published, load_published
from vringlab.results import Table, read_table, write_manifest, write_table
from vringlab.validation import COLUMNS, TABLE, Row

SCOREBOARD, SUMMARY = "scoreboard.csv", "summary.csv"
ALL = "all"
KINDS = ("rate", "gain", "utilisation")
"""Kinds of rows. Errors of rates are in percent of what was published; those of gains and
utilisations, which are in percent themselves and may be 0, in points."""


@dataclass(frozen=True, slots=True)
class Score:
    """A published value and its prediction, in the published unit, to six significant digits."""

    system: str
    """The experiment that answers for it, or the source of a measurement of one's own."""
    id: str
    metric: str
    unit: str
    published: float
    predicted: float
    low: float
    high: float
    """Of the 90 % interval in which a measurement should lie."""
    use: str
    """calibrate: it was fitted; predict: it was not."""
    unmodelled_share: float | None
    """Of the busy time of the core that bounds the rate, 0 to 1; None where it has no meaning."""

    @property
    def kind(self) -> str:
        """One of KINDS."""
        return next(kind for kind in KINDS if self.metric.startswith(kind))

    @property
    def error(self) -> float:
        """Of the prediction: of a rate in percent, else in points."""
        if self.kind == "rate":
            return 100 * (self.predicted / self.published - 1)
        return self.predicted - self.published

    @property
    def error_unit(self) -> str:
        return "%" if self.kind == "rate" else "points"

    @property
    def inside(self) -> bool:
        """Is the published value in the interval?"""
        return self.low <= self.published <= self.high

    @property
    def with_model_error(self) -> tuple[float, float]:
        """The interval with the model's own error, MODEL_SIGMA, of a rate or of the busy time of a
        packet that a utilisation is. A gain's is the same: how much of the error of two rates on
        one host cancels, no rate that may be fitted tells."""
        if self.kind == "gain":
            return self.low, self.high
        low, high = widened(self.low, self.predicted, self.high, MODEL_SIGMA)
        return six_digits(low), six_digits(min(high, 100) if self.kind == "utilisation" else high)

    @property
    def inside_with_model_error(self) -> bool:
        """Is the published value in that one?"""
        low, high = self.with_model_error
        return low <= self.published <= high


@dataclass(frozen=True, slots=True)
class Summary:
    """What the rows of one system and kind come to. Fitted rows are counted and nothing else."""

    system: str
    """Or "all"."""
    kind: str
    """Or "all"."""
    fitted: int
    predicted: int
    median_error: float | None
    """Of the predicted rows' absolute errors; None where there are none or they have two units."""
    error_unit: str
    """Empty where they have two."""
    inside: int
    """Of the predicted rows: those whose published value is in the interval."""
    inside_with_model_error: int
    """The same of the intervals with the model's own error."""

    @property
    def coverage_percent(self) -> float | None:
        """Of the predicted rows, inside their intervals; None where there are none."""
        return 100 * self.inside / self.predicted if self.predicted else None

    @property
    def coverage_with_model_error_percent(self) -> float | None:
        """The same of the intervals with the model's own error."""
        return 100 * self.inside_with_model_error / self.predicted if self.predicted else None


@dataclass(frozen=True, slots=True, repr=False)
class Validation:
    """Every published row beside its prediction. All predictions are simulated."""

    rows: tuple[Score, ...]
    summary: tuple[Summary, ...]
    """By system and kind, then all systems together."""
    not_simulated: tuple[str, ...] = ()
    """Published rows that nothing answers for."""

    def of(self, system: str = ALL, kind: str = ALL) -> Summary:
        """One of the summaries."""
        for found in self.summary:
            if (found.system, found.kind) == (system, kind):
                return found
        known = ", ".join(dict.fromkeys(s.system for s in self.summary))
        raise ValueError(f'no {kind} rows of "{system}": there are {known}')

    def report(self) -> str:
        """The scoreboard and its summary as text."""
        return "\n".join([*_board(self.rows), "", *_summaries(self.summary), *_missing(self)])

    def __repr__(self) -> str:
        total = self.of()
        return (
            f"Validation(simulated {len(self.rows)} rows, {total.inside} of {total.predicted} in)"
        )


def validate(system: str | None = None, *, draws: int | None = None) -> Validation:
    """Runs all published rows anew, or those that one system answers for, at its committed fit.

    `draws` of the posterior, by default all: fewer are faster and make rougher intervals.

    >>> found = validate("vmap", draws=2)
    >>> [row.id for row in found.rows if row.use == "calibrate"]
    ['vmap.before', 'vmap2019.smap_on.before']
    >>> found.of("vmap", "rate").predicted
    6
    """
    known = systems()
    if system is not None and system not in known:
        raise ValueError(f'system = "{system}": must be one of {", ".join(known)}')
    published = load_published()
    chosen = known if system is None else (system,)
    scores = tuple(
        score_of(name, row) for name in chosen for row in _answers(name, published, draws)
    )
    answered = {score.id for score in scores}
    missing = tuple(row.id for row in published if system is None and row.id not in answered)
    return Validation(scores, summarise(scores), missing)


def systems() -> tuple[str, ...]:
    """The experiments that answer for published rows: folders with an answers.py.

    >>> "vmap" in systems()
    True
    """
    folder = importlib.resources.files("vringlab") / "experiments"
    return tuple(sorted(f.name for f in folder.iterdir() if (f / "answers.py").is_file()))


def _answers(name: str, published: Sequence[Published], draws: int | None) -> Iterable[Row]:
    module = importlib.import_module(f"vringlab.experiments.{name}.answers")
    rows: list[Row] = module.answers(published, draws=draws)
    return rows


def score_of(system: str, row: Row) -> Score:
    """The score of a row."""
    p, share = row.published, row.unmodelled_share
    return Score(
        system=system,
        id=p.id,
        metric=p.metric,
        unit=p.unit,
        published=six_digits(p.value),
        predicted=six_digits(row.predicted),
        low=six_digits(row.low),
        high=six_digits(row.high),
        use=p.use,
        unmodelled_share=None if share is None else six_digits(share),
    )


def read_scores(results: Path) -> tuple[Score, ...]:
    """Of the tables of all experiments in a folder of results."""
    known = systems()
    files = [results / name / TABLE for name in known if (results / name / TABLE).is_file()]
    return tuple(score for file in files for score in _scores(file.parent.name, _table(file)))


def _table(path: Path) -> Table:
    return read_table(path, COLUMNS)


def _scores(system: str, table: Table) -> Iterable[Score]:
    names = ("published", "predicted", "low", "high", "unmodelled_share")
    columns = {name: table.numbers(name).tolist() for name in names}
    for i, row in enumerate(table.rows):
        published, predicted, low, high, share = (columns[name][i] for name in names)
        yield Score(
            system=system,
            id=row["id"],
            metric=row["metric"],
            unit=row["unit"],
            published=published,
            predicted=predicted,
            low=low,
            high=high,
            use=row["use"],
            unmodelled_share=None if math.isnan(share) else share,
        )


def summarise(rows: Iterable[Score]) -> tuple[Summary, ...]:
    """By system and kind, each then over all kinds, and so for all systems together.

    >>> row = Score("a", "x", "rate", "pps", 100, 110, 90, 120, "predict", None)
    >>> [(s.system, s.kind, s.median_error, s.coverage_percent) for s in summarise([row])]
    [('a', 'rate', 10.0, 100.0), ('a', 'all', 10.0, 100.0), ('all', 'rate', 10.0, 100.0), ...]
    """
    scores = list(rows)
    names = dict.fromkeys(score.system for score in scores)
    groups = [(name, [s for s in scores if s.system == name]) for name in names] + [(ALL, scores)]
    return tuple(summary for name, group in groups for summary in _kinds(name, group))


def _kinds(system: str, scores: Sequence[Score]) -> Iterable[Summary]:
    for kind in KINDS:
        own = [score for score in scores if score.kind == kind]
        if own:
            yield _summary(system, kind, own)
    yield _summary(system, ALL, scores)


def _summary(system: str, kind: str, scores: Sequence[Score]) -> Summary:
    predicted = [score for score in scores if score.use == "predict"]
    units = {score.error_unit for score in predicted}
    errors = [round(abs(score.error), 9) for score in predicted]
    return Summary(
        system,
        kind,
        fitted=len(scores) - len(predicted),
        predicted=len(predicted),
        median_error=median(errors) if len(units) == 1 else None,
        error_unit=units.pop() if len(units) == 1 else "",
        inside=sum(score.inside for score in predicted),
        inside_with_model_error=sum(score.inside_with_model_error for score in predicted),
    )


# --- files and text -------------------------------------------------------------------------------


def write_validation(folder: Path, validation: Validation, command: str) -> None:
    """Writes scoreboard.csv, summary.csv and a manifest."""
    write_scores(folder, validation.rows)
    write_manifest(folder, command=command)


def write_scores(folder: Path, rows: Sequence[Score]) -> None:
    """Writes scoreboard.csv and summary.csv."""
    names = [f.name for f in fields(Score)]
    errors = ("error", "error_unit", "inside")
    columns = (*names, *errors, "low_with_model_error", "high_with_model_error")
    cells = [
        (*(getattr(s, n) for n in names), s.error, s.error_unit, inside, *s.with_model_error)
        for s in rows
        for inside in ("yes" if s.inside else "no",)
    ]
    write_table(folder / SCOREBOARD, columns, cells)
    coverages = ("coverage_percent", "coverage_with_model_error_percent")
    columns = (*(f.name for f in fields(Summary)), *coverages)
    lines = [tuple(getattr(s, name) for name in columns) for s in summarise(rows)]
    write_table(folder / SUMMARY, columns, lines)


def _board(rows: Sequence[Score]) -> Iterable[str]:
    width = max((len(row.id) for row in rows), default=0)
    yield f"{'row':{width}} {'published':>10} {'simulated':>10} {'90 % interval':>23}  error"
    for row in rows:
        interval = f"{row.low:.5g} to {row.high:.5g}"
        error = f"{row.error:+.1f} {row.error_unit}"
        use = "fitted" if row.use == "calibrate" else "predicted" + ("" if row.inside else ", out")
        share = row.unmodelled_share
        unmodelled = "" if share is None else f"{100 * share:.0f} % unmodelled"
        yield (
            f"{row.id:{width}} {row.published:>10.5g} {row.predicted:>10.5g} {interval:>23}  "
            f"{error:15} {use:14} {unmodelled}"
        ).rstrip()


def _summaries(summary: Sequence[Summary]) -> Iterable[str]:
    yield (
        f"{'system':14} {'kind':12} {'fitted':>6} {'predicted':>9} {'median error':>14}  "
        f"{'coverage':17}with the model's error  (simulated)"
    )
    for s in summary:
        error = "" if s.median_error is None else f"{s.median_error:.1f} {s.error_unit}"
        share = s.coverage_percent
        wider = s.coverage_with_model_error_percent
        coverage = "" if share is None else f"{s.inside} of {s.predicted}, {share:.0f} %"
        besides = "" if wider is None else f"{s.inside_with_model_error}, {wider:.0f} %"
        yield (
            f"{s.system:14} {s.kind:12} {s.fitted:>6} {s.predicted:>9} {error:>14}  "
            f"{coverage:17}{besides}"
        ).rstrip()


def _missing(validation: Validation) -> Iterable[str]:
    if validation.not_simulated:
        yield f"not simulated: {', '.join(validation.not_simulated)}"
