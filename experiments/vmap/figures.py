"""The figures: one style, the word `simulated` and the version on each."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from vringlab import COSTS, STEPS, Comparison, version
from vringlab.validation import Row

STYLE = {
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
BAND, SAVED, ADDED = "#d9d9d9", "#4a90c2", "#8c2d19"
FITTED: dict[str, Any] = {
    "marker": "s",
    "ms": 6,
    "color": "#808080",
    "mfc": "white",
    "mew": 1.5,
}
PREDICTED: dict[str, Any] = {"marker": "o", "ms": 6.5, "color": "#0b4f8a"}
BESIDE: dict[str, Any] = {
    "textcoords": "offset points",
    "ha": "right",
    "va": "center",
    "fontsize": 8,
}
NAMES = {
    "vmap.before": "unnamed x86, SMAP on: user access",
    "vmap.after": "unnamed x86, SMAP on: mapped",
    "vmap2019.smap_on.before": "Broadwell, SMAP on: user access",
    "vmap2019.smap_on.after": "Broadwell, SMAP on: mapped, RCU",
    "vmap2019.smap_off.before": "Broadwell, SMAP off: user access",
    "vmap2019.smap_off.after": "Broadwell, SMAP off: mapped, RCU",
    "usedelem2019": "a used element as one block",
}
PANELS = {
    "vmap2019.smap_on": "Broadwell 2.6 GHz, SMAP on",
    "vmap2019.smap_off": "Broadwell 2.6 GHz, SMAP off",
}
SHOWN_NS = 0.25
"""Differences of less are one bar together."""

Key = tuple[str, str]


def draw_predicted(path: Path, rows: Sequence[Row]) -> None:
    """Predicted against published, with intervals and a band of 5 % around what was published."""
    rates = [row for row in rows if row.published.metric == "rate"]
    gains = [row for row in rows if row.published.metric == "gain"]
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(7.4, 4.4))
        ratios = {"height_ratios": [len(rates), len(gains)]}
        upper, lower = figure.subplots(2, 1, gridspec_kw=ratios)
        _rows_against(upper, rates, band=0.05)
        _rows_against(lower, gains, band=0)
        upper.set_xlabel("million packets a second")
        lower.set_xlabel("gain, %")
        figure.legend(handles=_legend(), loc="outside lower center", ncols=4, handletextpad=0.6)
        _save(figure, path, "Direct access to ring metadata, 64-byte transmit")


def draw_waterfall(path: Path, comparisons: Mapping[str, Comparison]) -> None:
    """The worker's time a packet, from user access to mapped, by step and cost."""
    keys = _shown_keys(comparisons[name] for name in PANELS)
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(10, 0.27 * len(keys) + 2))
        panels = figure.subplots(1, len(PANELS), sharey=True)
        for axes, (name, title) in zip(panels, PANELS.items(), strict=True):
            axes.set_title(title, fontsize=9)
            _waterfall(axes, comparisons[name], keys)
        _same_scale(panels, (comparisons[name] for name in PANELS))
        names = ["user access", *(" / ".join(key) for key in keys), "all else"]
        panels[0].set_yticks(range(len(keys) + 3), [*names, "mapped"])
        panels[0].invert_yaxis()
        _save(figure, path, "What direct access saves of a packet in the vhost worker")


def _rows_against(axes: Axes, rows: Sequence[Row], band: float) -> None:
    for y, row in enumerate(rows):
        value = row.published.value
        axes.barh(y, 2 * band * value, 0.72, left=(1 - band) * value, color=BAND)
        axes.plot([value, value], [y - 0.36, y + 0.36], color="black", lw=1.8)
        axes.plot([row.low, row.high], [y, y], color=_marker(row)["color"], lw=1.6)
        axes.plot([row.predicted], [y], ls="", **_marker(row))
    axes.set_yticks(range(len(rows)), [NAMES[row.published.id] for row in rows])
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.grid(axis="x", color="#eeeeee", zorder=0)
    axes.set_axisbelow(True)
    left = min(min(row.low, (1 - band) * row.published.value) for row in rows)
    right = max(max(row.high, (1 + band) * row.published.value) for row in rows)
    axes.set_xlim(left - 0.03 * (right - left), right + 0.03 * (right - left))


def _marker(row: Row) -> dict[str, Any]:
    return FITTED if row.published.use == "calibrate" else PREDICTED


def _legend() -> list[Patch | Line2D]:
    return [
        Line2D([], [], color="black", lw=1.8, label="published"),
        Patch(color=BAND, label="published ± 5 %"),
        Line2D([], [], lw=1.6, label="simulated, fitted to this row", **FITTED),
        Line2D([], [], lw=1.6, label="simulated, predicted; 90 %", **PREDICTED),
    ]


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
    before, after = (r.busy_ns_per_packet() for r in (comparison.a, comparison.b))
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
        right = comparison.a.busy_ns_per_packet() + 0.06 * widest
        axes.set_xlim(right - 1.4 * widest, right)


def _total(axes: Axes, y: int, value: float) -> None:
    axes.plot([value, value], [y - 0.36, y + 0.36], color="black", lw=3)
    axes.annotate(f"{value:.0f} ns", (value, y), (-5, 0), **(BESIDE | {"weight": "bold"}))


def _save(figure: Figure, path: Path, title: str) -> None:
    figure.get_layout_engine().set(w_pad=0.12, h_pad=0.08)
    figure.suptitle(f"{title}\nsimulated, vringlab {version}", fontsize=10)
    figure.savefig(path.with_suffix(".png"), dpi=150, metadata={"Software": None})
    figure.savefig(path.with_suffix(".svg"), metadata={"Date": None, "Creator": None})
