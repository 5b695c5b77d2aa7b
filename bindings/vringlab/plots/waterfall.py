"""Where the time of a packet goes or comes from, step by step."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from vringlab.comparison import Comparison
from vringlab.plots.style import (
    ADDED,
    BESIDE,
    SAVED,
    STYLE,
    SimulatedFigure,
    drawn,
    grid_of,
    no_data,
)
from vringlab.run_result import COSTS, STEPS

SHOWN_NS = 0.25
"""Differences of less are one bar together."""

Key = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Falls:
    """A core's time a packet before and after, and what each step and cost has to do with it."""

    before_ns: float
    after_ns: float
    delta_ns: float
    """After less before."""
    by_key: Mapping[Key, float]
    """Nanoseconds a packet by (step, cost); what is saved is negative."""

    @classmethod
    def of(cls, comparison: Comparison) -> Self:
        """Of two runs.

        >>> import vringlab as vl
        >>> a = vl.run(vl.Scenario(packets=1000))
        >>> Falls.of(vl.compare(a, a)).delta_ns
        0.0
        """
        runs = (comparison.a, comparison.b)
        before, after = (run.busy_ns_per_packet(comparison.core) for run in runs)
        by_key = {(row.step, row.cost): row.delta_ns for row in comparison.rows}
        return cls(before, after, comparison.delta_ns, by_key)

    @classmethod
    def of_rows(cls, rows: Iterable[Mapping[str, str]], *, before: str, after: str) -> Self:
        """Of rows of a table with the columns step, cost and, in nanoseconds, `before`, `after`.

        >>> row = {"step": "send", "cost": "retpoline", "alone_ns": "30", "batched_ns": "1"}
        >>> Falls.of_rows([row], before="alone_ns", after="batched_ns").delta_ns
        -29.0
        """
        cells = [((r["step"], r["cost"]), float(r[before]), float(r[after])) for r in rows]
        first, last = sum(a for _, a, _ in cells), sum(b for _, _, b in cells)
        by_key: dict[Key, float] = {}
        for key, a, b in cells:
            by_key[key] = by_key.get(key, 0.0) + b - a
        return cls(first, last, last - first, by_key)


def waterfall(
    panels: Mapping[str, Comparison | Falls], *, before: str, after: str, title: str
) -> SimulatedFigure:
    """A core's time a packet, from before to after, by step and cost; one panel a title.

    Differences of less than 0.25 ns in every panel are one bar, "all else": nothing is left out.

    >>> import vringlab as vl
    >>> a = vl.run(vl.Scenario(packets=1000, batch=1))
    >>> b = vl.run(vl.Scenario(packets=1000))
    >>> falls = {"64-byte frames": vl.compare(a, b)}
    >>> waterfall(falls, before="one a call", after="64 a call", title="Batching")
    SimulatedFigure(Batching: 1 panels, 0 notes)
    """
    falls = {name: p if isinstance(p, Falls) else Falls.of(p) for name, p in panels.items()}
    keys = _shown_keys(falls.values())
    size = 5 * max(len(falls), 1), 0.27 * len(keys) + 2
    with drawn(title, size, STYLE) as figure:
        axes = grid_of(figure, len(falls), most=max(len(falls), 1), sharey=True)
        if not falls:
            no_data(axes[0])
        for own, (name, fall) in zip(axes, falls.items(), strict=False):
            own.set_title(name, fontsize=9)
            _draw(own, fall, keys)
        _same_scale(axes, falls.values())
        names = [before, *(" / ".join(key) for key in keys), "all else"]
        axes[0].set_yticks(range(len(keys) + 3), [*names, after])
        axes[0].invert_yaxis()
    return figure


def _shown_keys(all_falls: Iterable[Falls]) -> list[Key]:
    """In the order of a packet's life: what changes visibly in any of them."""
    largest: dict[Key, float] = {}
    for key, ns in (item for falls in all_falls for item in falls.by_key.items()):
        largest[key] = max(largest.get(key, 0), abs(ns))
    shown = [key for key in largest if largest[key] >= SHOWN_NS]
    return sorted(shown, key=lambda key: (STEPS.index(key[0]), COSTS.index(key[1])))


def _draw(axes: Axes, falls: Falls, keys: Sequence[Key]) -> None:
    bars = [falls.by_key.get(key, 0.0) for key in keys]
    bars.append(falls.delta_ns - sum(bars))
    _total(axes, 0, falls.before_ns)
    level = falls.before_ns
    for y, fall in enumerate(bars, 1):
        axes.plot([level, level], [y - 1, y], color="#999999", lw=0.7)
        axes.barh(y, fall, 0.62, left=level, color=SAVED if fall < 0 else ADDED)
        level += fall
        text = f"{fall:+.1f}" if fall else "none"
        axes.annotate(text, (min(level, level - fall), y), (-3, 0), **BESIDE)
    axes.plot([level, level], [len(bars), len(bars) + 1], color="#999999", lw=0.7)
    _total(axes, len(bars) + 1, falls.after_ns)
    axes.set_xlabel("ns a packet; the axis does not begin at 0")


def _same_scale(panels: Sequence[Axes], all_falls: Iterable[Falls]) -> None:
    """A nanosecond is as long in each panel, and there is room for the text at the left."""
    shown = list(all_falls)
    # Where nothing changed in any of them, the scale is that of the whole time.
    widest = max((abs(f.delta_ns) for f in shown), default=0) or max(
        (f.before_ns for f in shown), default=0
    )
    room = 0.06 * widest
    rises = [max(0, _rise(axes, f) - room) for axes, f in zip(panels, shown, strict=False)]
    width = 1.4 * widest + max(rises, default=0)
    for axes, falls, rise in zip(panels, shown, rises, strict=False):
        right = falls.before_ns + room + rise
        axes.set_xlim(right - width, right)


def _rise(axes: Axes, falls: Falls) -> float:
    """How far bars reach beyond the time before."""
    ends = [max(bar.get_x(), bar.get_x() + bar.get_width()) for bar in _bars(axes)]
    return max([0.0, *(end - falls.before_ns for end in ends)])


def _bars(axes: Axes) -> Iterable[Rectangle]:
    return (patch for patch in axes.patches if isinstance(patch, Rectangle))


def _total(axes: Axes, y: int, value: float) -> None:
    bold: dict[str, Any] = BESIDE | {"weight": "bold"}
    axes.plot([value, value], [y - 0.36, y + 0.36], color="black", lw=3)
    axes.annotate(f"{value:.0f} ns", (value, y), (-5, 0), **bold)
