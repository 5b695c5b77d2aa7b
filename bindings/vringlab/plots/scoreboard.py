"""What was published beside what the model says."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from vringlab.plots.style import (
    FITTED,
    FRAMED,
    PREDICTED,
    SimulatedFigure,
    drawn,
    grid_of,
    least,
    no_data,
    plain_log,
    shape_of,
)
from vringlab.results import read_table
from vringlab.validation import COLUMNS, Row


@dataclass(frozen=True, slots=True)
class Score:
    """A published value and its prediction, in the published unit."""

    id: str
    unit: str
    published: float
    predicted: float
    low: float
    high: float
    fitted: bool
    """The costs were fitted to this row; else it is predicted."""

    @property
    def inside(self) -> bool:
        """The interval has the published value in it."""
        return self.low <= self.published <= self.high

    @classmethod
    def of(cls, row: Row) -> Self:
        """Of a row of a validation.

        >>> from vringlab.published import load_published
        >>> Score.of(Row(load_published()[0], 5.0, 4.0, 6.0, None)).inside
        True
        """
        p = row.published
        fitted = p.use == "calibrate"
        return cls(p.id, p.unit, p.value, row.predicted, row.low, row.high, fitted)


def read_scores(path: Path) -> tuple[Score, ...]:
    """The rows of a `table.csv` of results.

    >>> import tempfile
    >>> text = "id,metric,unit,published,predicted,low,high,use,unmodelled_share"
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "table.csv"
    ...     _ = path.write_text(f"{text}\\na,rate,pps,5,6,4,7,predict,0\\n")
    ...     read_scores(path)
    (Score(id='a', unit='pps', published=5.0, predicted=6.0, low=4.0, high=7.0, fitted=False),)
    """
    table = read_table(path, COLUMNS)
    columns = ("published", "predicted", "low", "high")
    numbers = [table.numbers(column).tolist() for column in columns]
    return tuple(
        Score(row["id"], row["unit"], p, predicted, low, high, row["use"] == "calibrate")
        for row, p, predicted, low, high in zip(table.rows, *numbers, strict=True)
    )


def scoreboard(
    systems: Mapping[str, Iterable[Score | Row]], *, title: str = "Published and simulated values"
) -> SimulatedFigure:
    """Simulated over published values with their intervals, a panel a system and unit.

    Percents are on a linear scale, for they may be 0 or less, all else on a log scale. What hits
    the published value is on the diagonal. Fitted rows are squares, predicted ones dots.

    >>> row = Score("a", "pps", 5.0, 6.0, 4.0, 7.0, fitted=False)
    >>> figure = scoreboard({"vmap": [row]})
    >>> figure.axes[0].get_title()
    'vmap, pps\\n1 of 1 predicted inside 90 %'
    """
    scores = {system: _scores(rows) for system, rows in systems.items()}
    panels = _by_unit(scores)
    rows, columns = shape_of(max(len(panels), 1))
    with drawn(title, (3 * columns + 0.4, 2.9 * rows + 0.9), FRAMED) as figure:
        axes = grid_of(figure, len(panels))
        figure.notes += [f"{system}: no rows" for system, rows in scores.items() if not rows]
        if not panels:
            no_data(axes[0])
        for own, ((system, unit), own_scores) in zip(axes, panels.items(), strict=False):
            _panel(figure, own, f"{system}, {unit}", own_scores)
        for first in axes[::columns]:
            first.set_ylabel("simulated")
        figure.legend(handles=_legend(), loc="outside lower center", ncols=3)
    return figure


def _scores(rows: Iterable[Score | Row]) -> list[Score]:
    return [row if isinstance(row, Score) else Score.of(row) for row in rows]


def _by_unit(systems: Mapping[str, Sequence[Score]]) -> dict[tuple[str, str], list[Score]]:
    panels: dict[tuple[str, str], list[Score]] = {}
    for system, scores in systems.items():
        for score in scores:
            panels.setdefault((system, score.unit), []).append(score)
    return panels


def _panel(figure: SimulatedFigure, axes: Axes, name: str, scores: Sequence[Score]) -> None:
    log = not scores[0].unit.startswith("%")
    values = [least(s.published, s.predicted, s.low, s.high) for s in scores]
    kept = figure.keep(values, what=f"rows of {name}", log=log)
    shown = [score for score, keep in zip(scores, kept, strict=True) if keep]
    for score in shown:
        style = FITTED if score.fitted else PREDICTED
        x = score.published
        axes.plot([x, x], [score.low, score.high], color=style["color"], lw=1, alpha=0.6)
        axes.plot([x], [score.predicted], ls="", **(style | {"ms": 4, "mew": 1}))
    axes.set_title(f"{name}\n{_hits(scores)}", fontsize=9)
    axes.set_xlabel("published")
    if shown:
        _diagonal(axes, shown, log)
    else:
        no_data(axes)


def _hits(scores: Sequence[Score]) -> str:
    predicted = [score for score in scores if not score.fitted]
    if not predicted:
        return "all fitted"
    return f"{sum(s.inside for s in predicted)} of {len(predicted)} predicted inside 90 %"


def _diagonal(axes: Axes, scores: Sequence[Score], log: bool) -> None:
    """From the least value to the greatest, on both axes alike."""
    values = [v for s in scores for v in (s.published, s.low, s.high, s.predicted)]
    low, high = _limits(min(values), max(values), log)
    axes.plot([low, high], [low, high], color="#999999", lw=0.8, zorder=0)
    if log:
        axes.set(xscale="log", yscale="log")
        plain_log(axes.xaxis, low, high)
        plain_log(axes.yaxis, low, high)
    axes.set(xlim=(low, high), ylim=(low, high))
    axes.set_aspect("equal", adjustable="box")


def _limits(low: float, high: float, log: bool) -> tuple[float, float]:
    if log:
        room = math.sqrt(max(high / low, 1.1)) ** 0.12
        return low / room, high * room
    room = 0.06 * ((high - low) or 1)
    return low - room, high + room


def _legend() -> list[Line2D]:
    small: dict[str, Any] = {"ms": 4, "lw": 1}
    return [
        Line2D([], [], label="fitted to this row", **(FITTED | small)),
        Line2D([], [], label="predicted; 90 % interval", **(PREDICTED | small)),
        Line2D([], [], label="simulated = published", color="#999999", lw=0.8),
    ]


def median_error_percent(scores: Iterable[Score]) -> float:
    """The median absolute error of predicted values that are no percents, in percent.

    >>> median_error_percent([Score("a", "pps", 5.0, 6.0, 4.0, 7.0, fitted=False)])
    20.0
    """
    rates = [s for s in scores if not s.fitted and not s.unit.startswith("%")]
    errors = [abs(100 * (s.predicted - s.published) / s.published) for s in rates]
    return float(np.median(errors)) if errors else math.nan
