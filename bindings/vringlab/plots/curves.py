"""Curves over the batch, and latencies."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from vringlab.plots.style import COLOURS, FRAMED, SimulatedFigure, drawn, least, no_data, plain_log
from vringlab.run_result import Latency, Result

QUANTILES = ("50 %", "90 %", "99 %", "all")
"""Shares of the packets, which a run's latency has the limits of."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchPoint:
    """A value at one batch, with what is known of it besides."""

    batch: int
    """Frames a call."""
    value: float
    low: float | None = None
    high: float | None = None
    """Of the 90 % interval."""
    published: float | None = None
    fitted: bool = False
    """The costs were fitted to the published value."""


def batch_sweep(
    curves: Mapping[str, Sequence[BatchPoint]], *, title: str, ylabel: str, log: bool = False
) -> SimulatedFigure:
    """Values over the batch on a log axis, a curve a name; with `log` on a log axis as well.

    Published values are dashes. Values that were fitted are hollow.

    >>> points = [BatchPoint(batch=1, value=400.0), BatchPoint(batch=64, value=270.0)]
    >>> figure = batch_sweep({"transmit": points}, title="Batching", ylabel="ns a packet")
    >>> figure.axes[0].get_xlabel()
    'frames a call'
    """
    with drawn(title, (6.4, 4.2), FRAMED) as figure:
        axes = figure.subplots()
        figure.notes += [f"{name}: no points" for name, points in curves.items() if not points]
        for i, (name, points) in enumerate(curves.items()):
            _curve(figure, axes, name, points, COLOURS[i % len(COLOURS)], log)
        if axes.lines:
            _batch_axes(axes, curves, log)
            axes.legend(handles=_batch_legend(axes, curves), fontsize=8)
        else:
            no_data(axes)
        axes.set(xlabel="frames a call", ylabel=ylabel)
    return figure


def _curve(
    figure: SimulatedFigure,
    axes: Axes,
    name: str,
    points: Sequence[BatchPoint],
    colour: str,
    log: bool,
) -> None:
    by_batch = figure.keep([p.batch for p in points], what=f"batches of {name}", log=True)
    values = [least(p.value, p.low, p.high, p.published) for p in points]
    kept = by_batch & figure.keep(values, what=f"values of {name}", log=log)
    shown = [point for point, keep in zip(points, kept, strict=True) if keep]
    if not shown:
        return
    x, y = [p.batch for p in shown], [p.value for p in shown]
    axes.plot(x, y, color=colour, lw=1.3, label=name)
    for p in shown:
        face = "white" if p.fitted else colour
        axes.plot([p.batch], [p.value], "o", ms=4, color=colour, mfc=face)
        if p.low is not None and p.high is not None:
            axes.plot([p.batch, p.batch], [p.low, p.high], color=colour, lw=1)
        if p.published is not None:
            axes.plot([p.batch], [p.published], ls="", marker="_", ms=12, mew=2, color=colour)


def _batch_axes(axes: Axes, curves: Mapping[str, Sequence[BatchPoint]], log: bool) -> None:
    batches = sorted({p.batch for points in curves.values() for p in points if p.batch > 0})
    axes.set_xscale("log", base=2)
    axes.set_xticks(batches, [str(batch) for batch in batches])
    axes.xaxis.minorticks_off()
    if log:
        axes.set_yscale("log")
        plain_log(axes.yaxis, *axes.get_ylim())
    axes.grid()


def _batch_legend(axes: Axes, curves: Mapping[str, Sequence[BatchPoint]]) -> list[Any]:
    points = [p for own in curves.values() for p in own]
    grey: dict[str, Any] = {"ls": "", "color": "#808080"}
    handles: list[Any] = list(axes.get_legend_handles_labels()[0])
    if any(p.published is not None for p in points):
        handles.append(Line2D([], [], marker="_", ms=12, mew=2, label="published", **grey))
    if any(p.low is not None for p in points):
        bar = Line2D([], [], marker="|", ms=9, label="90 % interval", **grey)
        handles.append(bar)
    if any(p.fitted for p in points):
        handles.append(Line2D([], [], marker="o", ms=4, mfc="white", label="fitted", **grey))
    return handles


def latency_cdf(
    latencies: Mapping[str, Result | Latency], *, title: str = "Latency"
) -> SimulatedFigure:
    """What share of the packets took at most how long, a curve a name.

    A run keeps four points of the distribution: the limits of 50, 90 and 99 % of the packets, to
    within 1/32, and the largest. Lines between them guide the eye; the vertical axis has these
    shares at equal distances, so that the tail can be seen.

    >>> import vringlab as vl
    >>> run = vl.run(vl.Scenario(packets=1000, offered_pps=1e5))
    >>> figure = latency_cdf({"100 thousand a second": run})
    >>> [label.get_text() for label in figure.axes[0].get_yticklabels()]
    ['50 %', '90 %', '99 %', 'all']
    """
    with drawn(title, (6.4, 3.6), FRAMED) as figure:
        axes = figure.subplots()
        for i, (name, given) in enumerate(latencies.items()):
            latency = given.latency if isinstance(given, Result) else given
            _quantiles(figure, axes, name, latency, COLOURS[i % len(COLOURS)])
        axes.set_yticks(range(len(QUANTILES)), QUANTILES)
        axes.set_ylim(-0.3, len(QUANTILES) - 0.7)
        axes.set(xlabel="took at most, µs (quantiles to within 1/32)", ylabel="share of packets")
        if axes.lines:
            axes.set_xscale("log")
            plain_log(axes.xaxis, *axes.get_xlim())
            axes.grid()
            axes.legend(fontsize=8)
        else:
            no_data(axes)
    return figure


def _quantiles(
    figure: SimulatedFigure, axes: Axes, name: str, latency: Latency, colour: str
) -> None:
    us = np.array([latency.p50_ps, latency.p90_ps, latency.p99_ps, latency.max_ps]) / 1e6
    kept = figure.keep(us, what=f"quantiles of {name}", log=True)
    if kept.any():
        places = np.arange(len(us))[kept]
        axes.plot(us[kept], places, "o--", ms=4, lw=1, color=colour, label=name)
