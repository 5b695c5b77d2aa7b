"""The figures."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from vringlab.experiments.figures import FRAMED, STYLE, save
from vringlab.experiments.premapped.explore import (
    BUFFERS,
    DEFERRED_US,
    FRAGMENTS,
    INVALIDATIONS_NS,
    IOMMUS,
    OFFERED_PPS,
    LoadPoint,
    MappingPoint,
)

COLOURS = ("#0b4f8a", "#4a90c2", "#d08770")


def draw_mappings(path: Path, points: Sequence[MappingPoint]) -> None:
    """Heat maps: gain by fragment and buffer, one an IOMMU and cost of an invalidation."""
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(11, 5.5))
        panels = figure.subplots(len(IOMMUS), len(INVALIDATIONS_NS), sharex=True, sharey=True)
        most = max(p.gain_percent for p in points)
        for line, iommu in zip(panels, IOMMUS, strict=True):
            for axes, cost in zip(line, INVALIDATIONS_NS, strict=True):
                own = [p for p in points if p.key[::2] == (iommu, cost)]
                _gains(axes, own, most)
                axes.set_title(f"{iommu}, {cost:.0f} ns an invalidation", fontsize=9)
            line[0].set_ylabel("shortest buffer, bytes")
        for axes in panels[-1]:
            axes.set_xlabel("fragment, KiB")
        save(figure, path, "Gain of one mapping a fragment over one a buffer, percent")


def _gains(axes: Axes, points: Sequence[MappingPoint], most: float) -> None:
    gains = np.full((len(BUFFERS), len(FRAGMENTS)), np.nan)
    for p in points:
        at = BUFFERS.index(p.key.buffer_bytes), FRAGMENTS.index(p.key.fragment_bytes)
        gains[at] = p.gain_percent
    axes.imshow(gains, cmap="Blues", vmin=0, vmax=most, aspect="auto")
    for (y, x), gain in np.ndenumerate(gains):
        colour = "white" if gain > 0.6 * most else "black"
        axes.annotate(f"{round(gain)}", (x, y), ha="center", va="center", color=colour, fontsize=8)
    axes.set_xticks(range(len(FRAGMENTS)), [str(f // 1024) for f in FRAGMENTS])
    axes.set_yticks(range(len(BUFFERS)), [str(b) for b in BUFFERS])


def draw_queues(path: Path, rows: Sequence[Sequence[Any]]) -> None:
    """Rate of each queue over the number of queues that share the invalidation queue."""
    with matplotlib.rc_context(STYLE | FRAMED):
        figure = Figure(figsize=(6, 3.6))
        axes = figure.subplots()
        for iommu, merge in sorted({(row[0], row[1]) for row in rows}):
            own = [row for row in rows if (row[0], row[1]) == (iommu, merge)]
            label = f"{iommu}, one mapping a {'fragment' if merge else 'buffer'}"
            style = {"color": COLOURS[IOMMUS.index(iommu)], "ls": "-" if merge else "--"}
            axes.plot(
                [r[2] for r in own], [r[4] / 1e6 for r in own], "o", ms=3, label=label, **style
            )
        axes.set(xlabel="queues", ylabel="Mpps of each queue", ylim=(0, None))
        axes.grid(axis="y")
        axes.legend()
        save(figure, path, "Queues that share one invalidation queue")


def draw_loads(path: Path, points: Sequence[LoadPoint]) -> None:
    """Gain in rate under full load, and the guest's time a packet under a light one."""
    with matplotlib.rc_context(STYLE | FRAMED):
        figure = Figure(figsize=(11, 3.8))
        left, *others = figure.subplots(1, 3, sharex=True)
        _rate_gains(left, points)
        for axes, way in zip(others, ("xmit", "recv"), strict=True):
            load = OFFERED_PPS[-1]
            _guest_times(axes, [p for p in points if p.key[::3] == (way, load)])
            title = {"xmit": "sent", "recv": "received"}[way]
            axes.set_title(f"{title}, {load / 1e3:.0f} thousand a second", fontsize=9)
        save(figure, path, "AF_XDP and a UDP socket, by packet size")


def _rate_gains(axes: Axes, points: Sequence[LoadPoint]) -> None:
    for way, deferred, style in (("xmit", 0.0, "--"), *(("recv", d, "-") for d in DEFERRED_US)):
        own = [p for p in points if p.key[::2] == (way, deferred) and p.key.offered_pps == 0]
        label = "sent" if way == "xmit" else f"received, polls deferred {deferred:.0f} us"
        colour = COLOURS[DEFERRED_US.index(deferred)]
        sizes = [p.key.packet_bytes for p in own]
        axes.plot(sizes, [p.gain for p in own], style, marker="o", ms=3, color=colour, label=label)
    axes.axhline(1, color="#999999", lw=0.7)
    axes.set(xscale="log", xlabel="packet, bytes", ylabel="rate over that of a socket")
    axes.set_ylim(0, None)
    axes.set_title("full load", fontsize=9)
    axes.legend(fontsize=7)


def _guest_times(axes: Axes, points: Sequence[LoadPoint]) -> None:
    for deferred, colour in zip(DEFERRED_US, COLOURS, strict=True):
        own = [p for p in points if p.key.deferred_us == deferred]
        if not own:
            continue
        sizes = [p.key.packet_bytes for p in own]
        for kind, style in enumerate(("--", "-")):
            label = f"{'AF_XDP' if kind else 'socket'}, deferred {deferred:.0f} us"
            times = [p.guest_ns[kind] / 1e3 for p in own]
            axes.plot(sizes, times, style, marker="o", ms=3, color=colour, label=label)
    most = max(ns for p in points for ns in p.guest_ns) / 1e3
    axes.set(xlabel="packet, bytes", ylabel="guest processors, us a packet", ylim=(0, 1.7 * most))
    axes.grid(axis="y")
    axes.legend(fontsize=7, loc="upper left", ncols=2)
