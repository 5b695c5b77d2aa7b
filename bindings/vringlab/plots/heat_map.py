"""Values over two knobs, and where a decision turns."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm, Normalize
from matplotlib.image import AxesImage
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Rectangle
from numpy.typing import NDArray

from vringlab.plots.style import (
    STYLE,
    SimulatedFigure,
    drawn,
    grid_of,
    no_data,
    plain_log,
    shape_of,
)

Knob = float | str
Grid = Mapping[tuple[Knob, Knob], float]
"""Values by the two knobs: (to the right, upward)."""
HATCH = "////"


def heat_map(
    panels: Mapping[str, Grid],
    *,
    title: str,
    xlabel: str,
    ylabel: str,
    label: str,
    boundary: float | None = None,
    log: bool = False,
    text: str = ".0f",
) -> SimulatedFigure:
    """Values over two knobs, a panel a name, all in one scale of colours.

    Cells have their value in them, by the format `text`. A line runs between cells above
    `boundary` and cells that are not. A cell without a value, or with one that a scale with `log`
    can't show, is hatched and counted. Numbers ascend, other knobs are in the order given.

    >>> gains = {(64, 1): -2.0, (64, 16): 5.0, (1514, 1): -3.0, (1514, 16): -1.0}
    >>> figure = heat_map({"tap": gains}, title="Gain", xlabel="bytes", ylabel="batch",
    ...                   label="%", boundary=0)
    >>> [label.get_text() for label in figure.axes[0].get_xticklabels()]
    ['64', '1514']
    """
    rows, columns = shape_of(max(len(panels), 1), most=3)
    widest = max((len({x for x, _ in grid}) for grid in panels.values()), default=0)
    size = max(3.4, 0.45 * widest + 0.7) * columns + 1, 2.7 * rows + 1
    with drawn(title, size, STYLE) as figure:
        axes = grid_of(figure, len(panels), most=3)
        norm = _norm([z for grid in panels.values() for z in grid.values()], boundary, log)
        images = [
            _panel(figure, own, name, grid, norm, boundary, text)
            for own, (name, grid) in zip(axes, panels.items(), strict=False)
        ]
        for own in axes:
            own.set(xlabel=xlabel, ylabel=ylabel)
        if not panels:
            no_data(axes[0])
        if any(images):
            bar = figure.colorbar(next(filter(None, images)), ax=axes, label=label, shrink=0.8)
            if log:
                plain_log(bar.ax.yaxis, float(norm.vmin or 1), float(norm.vmax or 1))
        handles = _legend(boundary, bool(figure.notes))
        if handles:
            figure.legend(handles=handles, loc="outside lower center", ncols=2)
    return figure


def _norm(values: Iterable[float], boundary: float | None, log: bool) -> Normalize:
    """The boundary, where there is one, is the middle of the scale."""
    seen = np.array([v for v in values if np.isfinite(v) and (v > 0 or not log)])
    if not seen.size:
        return Normalize(0, 1)
    low, high = float(seen.min()), float(seen.max())
    if log:
        if boundary is not None and boundary > 0:
            factor = max(high / boundary, boundary / low, 1.01)
            low, high = boundary / factor, boundary * factor
        return LogNorm(low, high)
    if boundary is not None:
        reach = max(high - boundary, boundary - low) or 1.0
        low, high = boundary - reach, boundary + reach
    return Normalize(low, high)


def _panel(
    figure: SimulatedFigure,
    axes: Axes,
    name: str,
    grid: Grid,
    norm: Normalize,
    boundary: float | None,
    text: str,
) -> AxesImage | None:
    axes.set_title(name, fontsize=9)
    if not grid:
        no_data(axes)
        return None
    xs, ys = (_ordered(key[i] for key in grid) for i in (0, 1))
    values = np.array([[grid.get((x, y), np.nan) for x in xs] for y in ys])
    kept = figure.keep(values, what=f"cells of {name}", log=isinstance(norm, LogNorm))
    colours = "Blues" if boundary is None else "RdBu"
    shown = np.ma.masked_where(~kept, values)
    image = axes.imshow(shown, cmap=colours, norm=norm, aspect="auto", origin="lower")
    _cells(axes, values, kept, norm, text, boundary)
    if boundary is not None:
        _boundary(axes, values, kept, boundary)
    axes.set_xticks(range(len(xs)), [_name(x) for x in xs])
    axes.set_yticks(range(len(ys)), [_name(y) for y in ys])
    return image


def _ordered(knobs: Iterable[Knob]) -> list[Knob]:
    found = list(dict.fromkeys(knobs))
    numbers = [knob for knob in found if not isinstance(knob, str)]
    return [*sorted(numbers)] if len(numbers) == len(found) else found


def _name(knob: Knob) -> str:
    return knob if isinstance(knob, str) else f"{knob:g}"


def _cells(
    axes: Axes,
    values: NDArray[np.float64],
    kept: NDArray[np.bool_],
    norm: Normalize,
    text: str,
    boundary: float | None,
) -> None:
    for (y, x), value in np.ndenumerate(values):
        if not kept[y, x]:
            cell = Rectangle((x - 0.5, y - 0.5), 1, 1, hatch=HATCH, fill=False, ec="#b0b0b0", lw=0)
            axes.add_patch(cell)
            continue
        share = float(norm(value))
        dark = share > 0.65 if boundary is None else abs(share - 0.5) > 0.32
        style: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": 8}
        axes.text(x, y, _number(value, text), color="white" if dark else "black", **style)


def _number(value: float, text: str) -> str:
    """Without the sign of a zero."""
    shown = format(value, text)
    return shown if float(shown) else shown.replace("-", "")


def _boundary(
    axes: Axes, values: NDArray[np.float64], kept: NDArray[np.bool_], boundary: float
) -> None:
    """Along the edges of cells: nothing is known between them."""
    above = values > boundary
    style: dict[str, Any] = {"color": "black", "lw": 2.2, "solid_capstyle": "projecting"}
    for (y, x), side in np.ndenumerate(above):
        if x + 1 < above.shape[1] and kept[y, x] and kept[y, x + 1] and side != above[y, x + 1]:
            axes.plot([x + 0.5, x + 0.5], [y - 0.5, y + 0.5], **style)
        if y + 1 < above.shape[0] and kept[y, x] and kept[y + 1, x] and side != above[y + 1, x]:
            axes.plot([x - 0.5, x + 0.5], [y + 0.5, y + 0.5], **style)
    _say_side(axes, above[kept], boundary)


def _say_side(axes: Axes, above: NDArray[np.bool_], boundary: float) -> None:
    """Where no line is drawn, on which side all cells are."""
    if above.size and above.all():
        axes.set_title(f"{axes.get_title()}: all above {boundary:g}", fontsize=9)
    elif above.size and not above.any():
        axes.set_title(f"{axes.get_title()}: none above {boundary:g}", fontsize=9)


def _legend(boundary: float | None, hatched: bool) -> list[Any]:
    handles: list[Any] = []
    if boundary is not None:
        handles.append(Line2D([], [], color="black", lw=2.2, label=f"boundary at {boundary:g}"))
    if hatched:
        style: dict[str, Any] = {"fill": False, "hatch": HATCH, "ec": "#b0b0b0", "lw": 0}
        handles.append(Patch(label="no value that can be shown", **style))
    return handles
