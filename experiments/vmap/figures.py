"""The figures."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from vringlab import Comparison
from vringlab.experiments.figures import FITTED, PREDICTED, STYLE, draw_waterfall, save
from vringlab.validation import Row

BAND = "#d9d9d9"
NAMES = {
    "vmap.before": "unnamed x86, SMAP on: user access",
    "vmap.after": "unnamed x86, SMAP on: mapped",
    "vmap2019.smap_on.before": "Broadwell, SMAP on: user access",
    "vmap2019.smap_on.after": "Broadwell, SMAP on: mapped, RCU",
    "vmap2019.smap_off.before": "Broadwell, SMAP off: user access",
    "vmap2019.smap_off.after": "Broadwell, SMAP off: mapped, RCU",
    "fragbias.before": "unnamed x86, a page reference a frame",
    "fragbias.after": "unnamed x86, page references at once",
    "usedelem2019": "a used element as one block",
}
PANELS = {
    "vmap2019.smap_on": "Broadwell 2.6 GHz, SMAP on",
    "vmap2019.smap_off": "Broadwell 2.6 GHz, SMAP off",
}


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
        save(figure, path, "Direct access to ring metadata, 64-byte transmit")


def draw_direct_access(path: Path, comparisons: Mapping[str, Comparison]) -> None:
    """The worker's time a packet, from user access to mapped, by step and cost."""
    draw_waterfall(
        path,
        {title: comparisons[name] for name, title in PANELS.items()},
        before="user access",
        after="mapped",
        title="What direct access saves of a packet in the vhost worker",
    )


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
