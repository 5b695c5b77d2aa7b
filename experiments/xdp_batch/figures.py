"""The figures."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Rectangle
from matplotlib.ticker import FuncFormatter
from vringlab import Comparison
from vringlab.experiments.figures import FRAMED, STYLE, draw_waterfall, save
from vringlab.experiments.xdp_batch import caches, latency, sizes
from vringlab.experiments.xdp_batch.base import BATCHES
from vringlab.experiments.xdp_batch.netperf import MESSAGES, NEAR, SESSIONS, Answer, Key
from vringlab.experiments.xdp_batch.sweep import Curve, ns

Rows = Sequence[dict[str, Any]]
PUBLISHED, SIMULATED = "#404040", "#0b4f8a"
COLOURS = ("#0b4f8a", "#4a90c2", "#d08770")
PLAIN = FuncFormatter(lambda value, _: f"{value:.6g}")
WORKLOADS = {"tx": "transmit", "rx": "receive"}
MOST = 50
"""Percent of gain at which a heat map has its darkest colour."""
SHOWN_BYTES = (64, 512, 1514)


def draw_sweep(path: Path, curves: Iterable[Curve]) -> None:
    """Time a packet over the batch, with both fitted curves."""
    title = "Time a packet over the batch, 64-byte frames"
    with _panels(path, title, (1, 2), (8.4, 4)) as panels:
        for axes, curve in zip(panels, curves, strict=True):
            _sweep(axes, curve)
        panels[0].set_ylabel("ns a packet")
        panels[1].legend(handles=_sweep_legend())


def draw_batching(path: Path, comparisons: Mapping[str, Comparison]) -> None:
    """The worker's time a packet, from one call a packet to a batch."""
    draw_waterfall(
        path,
        comparisons,
        before="a call a packet",
        after="64 a call",
        title="What 64 buffers a call save of a packet in the vhost worker",
    )


def draw_sizes(path: Path, rows: Rows) -> None:
    """Some of the frame sizes, a panel a sink."""
    with _panels(path, sizes.TITLE, (2, 3), (10, 6), sharey=True) as panels:
        for axes, sink in zip(panels, sizes.SINKS, strict=True):
            axes.set_title(sink, fontsize=9)
            for size, colour in zip(SHOWN_BYTES, COLOURS, strict=True):
                _gains(axes, _where(rows, sink=sink, packet_bytes=size), colour, f"{size} bytes")
            axes.axhline(0, color="black", lw=0.8)
            _batches(axes, sizes.BATCHES)
        for axes in panels[::3]:
            axes.set_ylabel("gain, % of packets a second")
        handles, labels = panels[0].get_legend_handles_labels()
        handles.append(Line2D([], [], color="black", lw=1.3, ls=":"))
        labels.append("without retpoline")
        panels[0].figure.legend(handles, labels, loc="outside lower center", ncols=len(labels))


def draw_caches(path: Path, rows: Rows) -> None:
    """A panel a frame size, and where a batch's buffers are as large as a cache."""
    with _panels(path, caches.TITLE, (1, 2), (9, 4)) as panels:
        for axes, size in zip(panels, caches.BYTES, strict=True):
            axes.set_title(f"{size}-byte frames", fontsize=9)
            for ring, colour in zip(caches.RINGS, COLOURS, strict=False):
                own = _where(rows, packet_bytes=size, ring_size=ring)
                _line(axes, own, "batch", "mpps", color=colour, label=f"ring of {ring}")
            for name, held in (("L1", caches.HOST.l1_bytes), ("L2", caches.HOST.l2_bytes)):
                _mark(axes, held / caches.buffer_bytes(size), f"buffers fill {name}")
            _batches(axes, caches.BATCHES)
        panels[0].set_ylabel("million packets a second")
        panels[1].legend(loc="upper right")


def draw_latency(path: Path, rows: Rows) -> None:
    """Median as lines, 99 % as dots."""
    with _panels(path, latency.TITLE, (1, 2), (9, 4)) as panels:
        for axes, share in zip(panels, latency.SHARES, strict=True):
            for batch, colour in zip(latency.BATCHES, COLOURS, strict=True):
                _latencies(axes, _where(rows, share_of=share, batch=batch), colour, batch)
            axes.set_yscale("log")
            axes.yaxis.set_major_formatter(PLAIN)
            axes.yaxis.set_minor_formatter(PLAIN)
            axes.set_xlabel(f"load, % of the saturated rate of {_whose(share)}")
            axes.grid()
        panels[0].set_ylabel("latency, µs (line: median; dots: 99 %)")
        panels[0].legend()


def draw_netperf(path: Path, answers: Sequence[Answer]) -> None:
    """Published and simulated gain of each cell, those with the wrong sign in a frame."""
    title = "What batching gains TCP streams from guest to host, % of throughput"
    with _panels(path, title, (1, 2), (9.6, 5.2)) as (published, simulated):
        _heat_map(published, "published", {_key(a): a.throughput for a in answers})
        gains = {_key(a): a.cell.throughput.percent for a in answers}
        image = _heat_map(simulated, "simulated", gains)
        for answer in answers:
            if not answer.right:
                _frame(simulated, _key(answer))
        label = f"wrong sign, or about 0 published and more than {NEAR} points off"
        wrong = Patch(fill=False, lw=2, label=label)
        figure = published.figure
        figure.legend(handles=[wrong], loc="outside lower center")
        figure.colorbar(image, ax=(published, simulated), label="gain, %", shrink=0.8)


DRAWN: dict[str, Callable[[Path, Rows], None]] = {
    "sizes": draw_sizes,
    "caches": draw_caches,
    "latency": draw_latency,
}
"""By the name of the exploration."""


def _sweep(axes: Axes, curve: Curve) -> None:
    batches = [2.0**i for i in np.arange(0, 9.01, 0.1)]
    fits = ((curve.published, PUBLISHED), (curve.predicted, SIMULATED))
    for fit, colour in fits:
        axes.plot(batches, [fit.ns(b) for b in batches], color=colour, lw=1, ls="--", zorder=1)
    for x, row in zip(BATCHES, curve.rows, strict=True):
        face = "white" if row.published.use == "calibrate" else SIMULATED
        axes.plot([x, x], [ns(row.low), ns(row.high)], color=SIMULATED, lw=1.4)
        axes.plot([x], [ns(row.predicted)], ls="", marker="o", color=SIMULATED, mfc=face)
        axes.plot([x], [ns(row.published.value)], ls="", marker="_", ms=12, mew=2, color=PUBLISHED)
    axes.set_title(WORKLOADS[curve.workload], fontsize=9)
    _batches(axes, BATCHES)


def _sweep_legend() -> list[Line2D]:
    dot: dict[str, Any] = {"marker": "o", "color": SIMULATED}
    dash: dict[str, Any] = {"lw": 1, "ls": "--"}
    return [
        Line2D([], [], ls="", marker="_", ms=12, mew=2, color=PUBLISHED, label="published"),
        Line2D([], [], lw=1.4, label="simulated, predicted; 90 %", **dot),
        Line2D([], [], lw=1.4, label="simulated, fitted to this row", mfc="white", **dot),
        Line2D([], [], color=PUBLISHED, label="a + b / batch, published", **dash),
        Line2D([], [], color=SIMULATED, label="a + b / batch, simulated", **dash),
    ]


def _key(answer: Answer) -> Key:
    return answer.cell.message_bytes, answer.cell.sessions


def _heat_map(axes: Axes, title: str, gains: Mapping[Key, float]) -> AxesImage:
    """Messages downward, sessions to the right, values in the cells."""
    values = np.array([[gains[message, n] for n in SESSIONS] for message in MESSAGES])
    image = axes.imshow(values, cmap="RdBu", vmin=-MOST, vmax=MOST, aspect="auto")
    for (y, x), value in np.ndenumerate(values):
        colour = "white" if abs(value) > 0.6 * MOST else "black"
        text = f"{round(value):+d}" if round(value) else "0"
        axes.text(x, y, text, ha="center", va="center", color=colour)
    axes.set_title(title, fontsize=9)
    axes.set_xticks(range(len(SESSIONS)), [str(n) for n in SESSIONS])
    axes.set_yticks(range(len(MESSAGES)), [str(message) for message in MESSAGES])
    axes.set_xlabel("sessions")
    axes.set_ylabel("bytes of a write")
    return image


def _frame(axes: Axes, key: Key) -> None:
    corner = (SESSIONS.index(key[1]) - 0.46, MESSAGES.index(key[0]) - 0.46)
    axes.add_patch(Rectangle(corner, 0.92, 0.92, fill=False, lw=2))


def _gains(axes: Axes, rows: Rows, colour: str, label: str) -> None:
    on, off = (_where(rows, retpoline=state) for state in sizes.KERNELS)
    _line(axes, on, "batch", "gain_percent", color=colour, label=label)
    _line(axes, off, "batch", "gain_percent", color=colour, ls=":")


def _latencies(axes: Axes, rows: Rows, colour: str, batch: int) -> None:
    _line(axes, rows, "load_percent", "latency_p50_us", color=colour, label=f"{batch} a call")
    _line(axes, rows, "load_percent", "latency_p99_us", color=colour, ls=":")


def _whose(share: str) -> str:
    return "each batch" if share == "own" else "one a call"


@contextmanager
def _panels(
    path: Path, title: str, shape: tuple[int, int], size: tuple[float, float], sharey: bool = False
) -> Iterator[list[Axes]]:
    """Of a figure that is saved in the end."""
    with matplotlib.rc_context(STYLE | FRAMED):
        figure = Figure(figsize=size)
        yield list(figure.subplots(*shape, squeeze=False, sharey=sharey).flat)
        save(figure, path, title)


def _where(rows: Rows, **wanted: Any) -> Rows:
    return [row for row in rows if wanted.items() <= row.items()]


def _line(axes: Axes, rows: Rows, x: str, y: str, **style: Any) -> None:
    axes.plot([r[x] for r in rows], [r[y] for r in rows], marker="o", ms=3, lw=1.3, **style)


def _mark(axes: Axes, x: float, text: str) -> None:
    axes.axvline(x, color="#808080", lw=0.8, ls="--")
    place: dict[str, Any] = {"xycoords": ("data", "axes fraction"), "textcoords": "offset points"}
    axes.annotate(text, (x, 0), (3, 4), rotation=90, fontsize=7, va="bottom", **place)


def _batches(axes: Axes, batches: Sequence[int]) -> None:
    axes.set_xscale("log", base=2)
    axes.set_xticks(batches, [str(batch) for batch in batches])
    axes.set_xlabel("frames a call")
    axes.grid()
