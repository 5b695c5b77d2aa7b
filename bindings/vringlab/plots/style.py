"""One style for all figures, and what each of them states: simulated, the version, what is missing.

Matplotlib leaves out what a log axis can't show and says nothing; `SimulatedFigure.keep` counts it.
"""

import io
import math
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullLocator
from numpy.typing import ArrayLike, NDArray

from vringlab import _native

STYLE: dict[str, Any] = {
    "axes.spines.left": False,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "figure.constrained_layout.use": True,
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "legend.frameon": False,
    "svg.fonttype": "path",
    "svg.hashsalt": "vringlab",
    "ytick.left": False,
}
"""Of bars with names at the left."""
FRAMED: dict[str, Any] = {"axes.spines.left": True, "ytick.left": True, "grid.color": "#e4e4e4"}
"""What curves need besides: an axis at the left."""
SAVED, ADDED = "#4a90c2", "#8c2d19"
COLOURS = ("#0b4f8a", "#d08770", "#4a90c2", "#5b8c5a", "#808080", "#8c2d19")
FITTED: dict[str, Any] = {"marker": "s", "ms": 6, "color": "#808080", "mfc": "white", "mew": 1.5}
PREDICTED: dict[str, Any] = {"marker": "o", "ms": 6.5, "color": "#0b4f8a"}
BESIDE: dict[str, Any] = {
    "textcoords": "offset points",
    "ha": "right",
    "va": "center",
    "fontsize": 8,
}
NO_DATA = "no data"
_SVG = {key: STYLE[key] for key in ("svg.fonttype", "svg.hashsalt")}


class SimulatedFigure(Figure):
    """A figure of simulated values, which Jupyter shows and `save` writes."""

    def __init__(self, *, title: str, size: tuple[float, float], style: Mapping[str, Any]) -> None:
        super().__init__(figsize=size)
        self.title = title
        self.notes: list[str] = []
        """What the figure does not show, in words; stands below the title."""
        self._style = dict(style)

    def keep(self, values: ArrayLike, *, what: str, log: bool = False) -> NDArray[np.bool_]:
        """Which of the values an axis can show. The others are counted in `notes`.

        >>> figure = SimulatedFigure(title="a", size=(2, 2), style=STYLE)
        >>> figure.keep([1.0, 0.0, float("nan")], what="rates", log=True).tolist()
        [True, False, False]
        >>> print(*figure.notes, sep="\\n")
        1 of 3 rates not shown: no finite value
        1 of 3 rates not shown: 0 or less on a log axis
        """
        numbers = np.asarray(values, dtype=float)
        finite = np.isfinite(numbers)
        kept: NDArray[np.bool_] = finite & (numbers > 0) if log else finite
        lost = {"no finite value": ~finite, "0 or less on a log axis": finite & ~kept}
        for why, which in lost.items():
            if which.any():
                counted = f"{which.sum()} of {numbers.size} {what}"
                self.notes.append(f"{counted} not shown: {why}")
        return kept

    def savefig(self, fname: Any, **options: Any) -> None:
        """As that of matplotlib, in the style that the figure was drawn in."""
        with _styled(self._style):
            super().savefig(fname, **options)

    def _repr_png_(self) -> bytes:
        image = io.BytesIO()
        self.savefig(image, format="png", dpi=90, metadata={"Software": None})
        return image.getvalue()

    def __repr__(self) -> str:
        return f"SimulatedFigure({self.title}: {len(self.axes)} panels, {len(self.notes)} notes)"


def least(*values: float | None) -> float:
    """The least of what a point needs an axis to show; NaN if one of them is not finite.

    >>> least(3.0, None, 2.0), least(1.0, float("inf"))
    (2.0, nan)
    """
    given = [value for value in values if value is not None]
    return min(given) if np.isfinite(given).all() else math.nan


@contextmanager
def drawn(
    title: str, size: tuple[float, float], style: Mapping[str, Any] = FRAMED
) -> Iterator[SimulatedFigure]:
    """A new figure in the style; its title is set when all is drawn and the notes are known.

    >>> with drawn("An empty figure", (3, 2)) as figure:
    ...     no_data(figure.subplots())
    >>> figure.get_suptitle()
    'An empty figure\\nsimulated, vringlab ...'
    """
    whole = STYLE | dict(style)
    with _styled(whole):
        figure = SimulatedFigure(title=title, size=size, style=whole)
        yield figure
        entitle(figure, title, figure.notes)


def _styled(style: Mapping[str, Any]) -> AbstractContextManager[None]:
    settings: Any = style  # matplotlib types the names of all its settings
    return matplotlib.rc_context(settings)


def entitle(figure: Figure, title: str, notes: Iterable[str] = ()) -> None:
    """Sets the title, `simulated` and the version below it, and a line a note.

    >>> with matplotlib.rc_context(STYLE):
    ...     figure = Figure()
    >>> entitle(figure, "Rates")
    >>> figure.get_suptitle()
    'Rates\\nsimulated, vringlab ...'
    """
    engine = figure.get_layout_engine()
    if engine is not None:
        engine.set(w_pad=0.12, h_pad=0.08)  # type: ignore[call-arg]
    lines = [title, f"simulated, vringlab {_native.version}", *notes]
    figure.suptitle("\n".join(lines), fontsize=10)


def save(figure: Figure, path: Path) -> None:
    """Writes .png and .svg, the same bytes each time.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder, drawn("Rates", (3, 2)) as figure:
    ...     save(figure, Path(folder) / "rates")
    ...     sorted(file.name for file in Path(folder).iterdir())
    ['rates.png', 'rates.svg']
    """
    with _styled(_SVG):
        figure.savefig(path.with_suffix(".png"), dpi=150, metadata={"Software": None})
        figure.savefig(path.with_suffix(".svg"), metadata={"Date": None, "Creator": None})


def no_data(axes: Axes) -> None:
    """Says in the middle of a panel that there is nothing to show.

    >>> axes = Figure().subplots()
    >>> no_data(axes)
    >>> [text.get_text() for text in axes.texts]
    ['no data']
    """
    place: dict[str, Any] = {"transform": axes.transAxes, "ha": "center", "va": "center"}
    axes.text(0.5, 0.5, NO_DATA, color="#808080", **place)


def grid_of(figure: Figure, count: int, most: int = 4, **options: Any) -> list[Axes]:
    """`count` panels, at most `most` a row; one where there are none.

    >>> len(grid_of(Figure(), 5)), len(grid_of(Figure(), 0))
    (5, 1)
    """
    wanted = max(count, 1)
    rows, columns = shape_of(wanted, most)
    panels = list(figure.subplots(rows, columns, squeeze=False, **options).flat)
    for spare in panels[wanted:]:
        spare.remove()
    return panels[:wanted]


def shape_of(count: int, most: int = 4) -> tuple[int, int]:
    """Rows and columns of `count` panels.

    >>> shape_of(5), shape_of(2)
    ((2, 3), (1, 2))
    """
    rows = -(-count // most)
    return rows, -(-count // rows)


def plain_log(axis: Axis, low: float, high: float) -> None:
    """Plain numbers on a log axis, a few of them whatever its range.

    >>> axes = Figure().subplots()
    >>> axes.set_xscale("log")
    >>> plain_log(axes.xaxis, 4.5, 7.5)
    >>> axes.xaxis.get_major_formatter()(5.0, 0)
    '5'
    """
    if high < 4 * low:
        axis.set_major_locator(MaxNLocator(3))
    else:
        axis.set_major_locator(LogLocator(subs=(1, 2, 5) if high < 300 * low else (1,)))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(FuncFormatter(lambda value, _: short(value)))


def short(value: float) -> str:
    """A number with k or M where it is large.

    >>> short(1.2e6), short(95800), short(9580), short(0.5)
    ('1.2M', '95.8k', '9580', '0.5')
    """
    if abs(value) >= 1e6:
        return f"{value / 1e6:.6g}M"
    return f"{value / 1e3:.6g}k" if abs(value) >= 1e4 else f"{value:.6g}"
