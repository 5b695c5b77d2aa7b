"""What the figures of all experiments share: one style, and `simulated` and the version on each."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from vringlab import COSTS, STEPS, Comparison, version

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
SAVED, ADDED = "#4a90c2", "#8c2d19"
BESIDE: dict[str, Any] = {
    "textcoords": "offset points",
    "ha": "right",
    "va": "center",
    "fontsize": 8,
}
SHOWN_NS = 0.25
"""Differences of less are one bar together."""

Key = tuple[str, str]


def draw_waterfall(
    path: Path, panels: Mapping[str, Comparison], *, before: str, after: str, title: str
) -> None:
    """A core's time a packet, from before to after, by step and cost; one panel a title."""
    keys = _shown_keys(panels.values())
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(5 * len(panels), 0.27 * len(keys) + 2))
        axes = figure.subplots(1, len(panels), sharey=True)
        for own, (name, comparison) in zip(axes, panels.items(), strict=True):
            own.set_title(name, fontsize=9)
            _waterfall(own, comparison, keys)
        _same_scale(axes, panels.values())
        names = [before, *(" / ".join(key) for key in keys), "all else"]
        axes[0].set_yticks(range(len(keys) + 3), [*names, after])
        axes[0].invert_yaxis()
        save(figure, path, title)


def save(figure: Figure, path: Path, title: str) -> None:
    """As .png and .svg, the same bytes each time."""
    figure.get_layout_engine().set(w_pad=0.12, h_pad=0.08)
    figure.suptitle(f"{title}\nsimulated, vringlab {version}", fontsize=10)
    figure.savefig(path.with_suffix(".png"), dpi=150, metadata={"Software": None})
    figure.savefig(path.with_suffix(".svg"), metadata={"Date": None, "Creator": None})


def _shown_keys(comparisons: Iterable[Comparison]) -> list[Key]:
    """In the order of a packet's life: what changes visibly in any of them."""
    keys: dict[Key, float] = {}
    for row in (row for comparison in comparisons for row in comparison.rows):
        key = (row.step, row.cost)
        keys[key] = max(keys.get(key, 0), abs(row.delta_ns))
    order = [key for key in keys if keys[key] >= SHOWN_NS]
    return sorted(order, key=lambda key: (STEPS.index(key[0]), COSTS.index(key[1])))


def _waterfall(axes: Axes, comparison: Comparison, keys: Sequence[Key]) -> None:
    deltas = {(row.step, row.cost): row.delta_ns for row in comparison.rows}
    falls = [deltas.get(key, 0.0) for key in keys]
    falls.append(comparison.delta_ns - sum(falls))
    before, after = (r.busy_ns_per_packet(comparison.core) for r in (comparison.a, comparison.b))
    _total(axes, 0, before)
    level = before
    for y, fall in enumerate(falls, 1):
        axes.plot([level, level], [y - 1, y], color="#999999", lw=0.7)
        axes.barh(y, fall, 0.62, left=level, color=SAVED if fall < 0 else ADDED)
        level += fall
        text = f"{fall:+.1f}" if fall else "none"
        axes.annotate(text, (min(level, level - fall), y), (-3, 0), **BESIDE)
    axes.plot([level, level], [len(falls), len(falls) + 1], color="#999999", lw=0.7)
    _total(axes, len(falls) + 1, after)
    axes.set_xlabel("ns a packet; the axis does not begin at 0")


def _same_scale(panels: Iterable[Axes], comparisons: Iterable[Comparison]) -> None:
    """A nanosecond is as long in each panel, and there is room for the text at the left."""
    shown = list(comparisons)
    widest = max(abs(c.delta_ns) for c in shown)
    for axes, comparison in zip(panels, shown, strict=True):
        right = comparison.a.busy_ns_per_packet(comparison.core) + 0.06 * widest
        axes.set_xlim(right - 1.4 * widest, right)


def _total(axes: Axes, y: int, value: float) -> None:
    axes.plot([value, value], [y - 0.36, y + 0.36], color="black", lw=3)
    axes.annotate(f"{value:.0f} ns", (value, y), (-5, 0), **(BESIDE | {"weight": "bold"}))
