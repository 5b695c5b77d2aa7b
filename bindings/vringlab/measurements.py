"""A user's own measurements: a CSV file with a scenario a row, fitted and predicted."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from vringlab.calibration import Calibration, Point
from vringlab.costs import CLOCK, cost_rows
from vringlab.fitting import calibrate
from vringlab.prediction import predict, sample
from vringlab.progress import Progress
from vringlab.published import USES, Published
from vringlab.results import ResultsError, Table, read_table
from vringlab.scenario import Scenario
from vringlab.scoreboard import Validation, score_of, summarise
from vringlab.settings import scenario_of
from vringlab.validation import Row, gain_row, rate_row, unit_per_second, utilisation_row

REQUIRED = ("id", "metric", "unit", "value", "use")
OPTIONAL = ("source", "workload", "host", "variant", "note", "relative_sigma", "core")
SCENARIO, BASE, COSTS = "scenario.", "base.", "costs."
"""How the names of columns begin that set a field of the scenario, a field of the one that a gain
is over, and a cost row of both."""
RELATIVE_SIGMA = 0.05
"""Where the file states none: what the author of a published sweep puts the noise of his at."""
RATE_UNITS = ("pps", "kpps", "Mpps", "IOPS", "MB/s")
CORES = ("guest", "worker", "app", "generator", "readers")


@dataclass(frozen=True, slots=True)
class Measurement:
    """One row of the file."""

    row: Published
    scenario: Scenario
    base: Scenario | None
    """Of a gain: what it is over."""
    relative_sigma: float
    """Standard deviation of ln(value) between runs; of a gain, that of each of both."""
    core: str
    """Whose unmodelled share the scoreboard states; of a utilisation, whose it is."""
    where: str
    """File and row, for messages."""


def load_measurements(path: Path) -> tuple[Measurement, ...]:
    """The rows of a file. ResultsError that names file, row and column where anything is wrong.

    >>> from vringlab.results import write_table
    >>> import tempfile
    >>> columns = ("id", "metric", "unit", "value", "use", "scenario.plan", "scenario.packets")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "my.csv")
    ...     write_table(path, columns, [("a", "rate", "Mpps", 5.1, "calibrate", "vmap", 2000)])
    ...     [m] = load_measurements(path)
    >>> m.scenario
    Scenario(packets=2000, plan=AccessPlan.vmap())
    """
    table = read_table(path, REQUIRED)
    for column in table.columns:
        if column not in (*REQUIRED, *OPTIONAL) and not column.startswith((SCENARIO, BASE, COSTS)):
            known = ", ".join(
                (*REQUIRED, *OPTIONAL, *(f"{p}NAME" for p in (SCENARIO, BASE, COSTS)))
            )
            raise ResultsError(f"{table.name}, row 1, column {column}: must be one of {known}")
        _check_cost(table, column)
    measurements = [_Cells(table, i).measurement() for i in range(len(table.rows))]
    seen: set[str] = set()
    for m in measurements:
        if m.row.id in seen:
            raise ResultsError(f'{m.where}, column id: "{m.row.id}" comes twice')
        seen.add(m.row.id)
    if not any(m.row.use == "calibrate" for m in measurements):
        raise ResultsError(f"{table.name}: column use: at least one row must be calibrate")
    return tuple(measurements)


def _check_cost(table: Table, column: str) -> None:
    rows = {row.name for row in cost_rows()} | {CLOCK}
    name = column.removeprefix(BASE)
    if name.startswith(COSTS) and name.removeprefix(COSTS) not in rows:
        raise ResultsError(f"{table.name}, row 1, column {column}: there is no such cost row")


def validate_measurements(
    path: Path, *, draws: int = 100, seed: int = 1, progress: Progress = None
) -> Validation:
    """Fits cost rows to the rows marked `calibrate` and predicts all, as for the published ones.

    The system of a row is its source, or "measured" where it states none. docs/validation.md says
    which columns there are.

    >>> import tempfile
    >>> from vringlab.results import write_table
    >>> columns = ("id", "metric", "unit", "value", "use", "scenario.packets", "scenario.batch")
    >>> many = ("many", "rate", "Mpps", 4.4, "calibrate", 500, 64)
    >>> one = ("one", "rate", "Mpps", 2.9, "predict", 500, 1)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "my.csv")
    ...     write_table(path, columns, [many, one])
    ...     found = validate_measurements(path, draws=2)
    >>> [(row.id, row.use) for row in found.rows]
    [('many', 'calibrate'), ('one', 'predict')]
    """
    measurements = load_measurements(path)
    points = [_point(m) for m in measurements if m.row.use == "calibrate"]
    fit = calibrate(points, draws=draws, seed=seed, progress=progress)
    rows = [(m.row.source or "measured", _answer(m, fit, seed)) for m in measurements]
    scores = tuple(score_of(system, row) for system, row in rows)
    return Validation(scores, summarise(scores))


def _point(m: Measurement) -> Point:
    return Point(
        id=m.row.id,
        scenario=m.scenario,
        rate_pps=m.row.value * unit_per_second(m.row, m.scenario),
        relative_sigma=m.relative_sigma,
    )


def _answer(m: Measurement, fit: Calibration, seed: int) -> Row:
    try:
        if m.row.metric.startswith("utilisation"):
            [sampled] = sample([m.scenario], fit, seed=seed, progress=False)
            return utilisation_row(
                m.row, sampled, m.core, seed=seed, measurement_sigma=m.relative_sigma
            )
        asked = [s for s in (m.scenario, m.base) if s is not None]
        found = predict(asked, fit, seed=seed, measurement_sigma=m.relative_sigma, progress=False)
        if m.base is None:
            return rate_row(m.row, found[0], m.core)
        return gain_row(m.row, found[0].gain_over(found[1]))
    except ValueError as error:
        raise ResultsError(f"{m.where}: {error}") from None


@dataclass(frozen=True, slots=True)
class _Cells:
    """One row of the file as it stands there."""

    table: Table
    index: int

    @property
    def where(self) -> str:
        return f"{self.table.name}, row {self.index + 2}"

    def measurement(self) -> Measurement:
        row = self._published()
        is_gain = row.metric == "gain"
        scenario = self._scenario((SCENARIO, COSTS))
        base = self._scenario((SCENARIO, COSTS, BASE)) if is_gain else None
        if is_gain and base == scenario:
            raise self._wrong("metric", "gain: a column base.NAME must say what it is over")
        sigma = self._number("relative_sigma", RELATIVE_SIGMA)
        if not 0 < sigma <= 1:
            raise self._wrong("relative_sigma", f"{sigma}: must be above 0 and at most 1")
        return Measurement(row, scenario, base, sigma, self._core(), self.where)

    def _published(self) -> Published:
        names = [name for name in Published.__dataclass_fields__ if name != "value"]
        texts = {name: self._text(name) for name in names}
        row = Published(value=self._number("value", math.nan), **texts)
        if not row.id:
            raise self._wrong("id", "must be given")
        if row.use not in USES:
            raise self._wrong("use", f'"{row.use}": must be one of {", ".join(USES)}')
        self._check_metric(row)
        return row

    def _check_metric(self, row: Published) -> None:
        if not math.isfinite(row.value):
            raise self._wrong("value", f"{row.value}: must be a finite number")
        if row.metric == "rate":
            if row.unit not in RATE_UNITS:
                raise self._wrong("unit", f'"{row.unit}": must be one of {", ".join(RATE_UNITS)}')
            if row.value <= 0:
                raise self._wrong("value", f"{row.value}: must be positive")
        elif row.metric == "gain" or row.metric.startswith("utilisation"):
            if not row.unit.startswith("%"):
                raise self._wrong("unit", f'"{row.unit}": must be %')
            if row.use == "calibrate":
                raise self._wrong("use", "calibrate: only a rate can be fitted")
        else:
            raise self._wrong("metric", f'"{row.metric}": must be rate, gain or utilisation')

    def _core(self) -> str:
        core = self._text("core") or "worker"
        if core not in CORES:
            raise self._wrong("core", f'"{core}": must be one of {", ".join(CORES)}')
        return core

    def _scenario(self, prefixes: Sequence[str]) -> Scenario:
        """By the columns that begin so, a later prefix over an earlier one."""
        settings = {c: s for prefix in prefixes for c, s in self._settings(prefix)}
        try:
            return scenario_of(list(settings.values()))
        except (ValueError, TypeError) as error:
            raise self._wrong(_column(settings, str(error)), str(error)) from None

    def _settings(self, prefix: str) -> Iterable[tuple[str, str]]:
        """Column and FIELD=VALUE; an empty cell leaves the default."""
        for column in self.table.columns:
            text = self._text(column) if column.startswith(prefix) else ""
            if text:
                field = column if prefix == COSTS else column.removeprefix(prefix)
                yield column, f"{field}={text}"

    def _text(self, column: str) -> str:
        return self.table.rows[self.index].get(column, "").strip()

    def _number(self, column: str, default: float) -> float:
        text = self._text(column)
        try:
            return float(text) if text else default
        except ValueError:
            raise self._wrong(column, f'"{text:.80}": must be a number') from None

    def _wrong(self, column: str, message: str) -> ResultsError:
        return ResultsError(f"{self.where}, column {column}: {message}")


def _column(settings: Mapping[str, str], message: str) -> str:
    """The column whose field a message begins with, the longest; else all of the scenario."""
    fields = {column: setting.partition("=")[0] for column, setting in settings.items()}
    named = [c for c, f in fields.items() if message.replace('setting = "', "").startswith(f)]
    return max(named, key=lambda column: len(fields[column]), default="scenario.*")
