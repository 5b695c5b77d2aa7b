"""The figures."""

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from vringlab import Result
from vringlab.experiments.figures import ADDED, BESIDE, FRAMED, SAVED, STYLE, save
from vringlab.experiments.vhost_blk.explore import BLOCKS, DISKS, PROCESSORS, Point
from vringlab.experiments.vhost_blk.switches import Step

COLOURS = {"kernel": "#0b4f8a", "io_uring": "#4a90c2", "threads": "#d08770"}


def draw_ladders(path: Path, ladders: Mapping[str, Sequence[Step]]) -> None:
    """Time of an I/O from one system to the other, a mechanism at a time."""
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(11, 3.6))
        axes = figure.subplots(1, len(ladders), sharey=True)
        for own, (operation, steps) in zip(axes, ladders.items(), strict=True):
            _ladder(own, steps)
            own.set_title(f"{operation}s of {steps[0].result.scenario.blk.block_bytes} bytes")
        names = [step.name for step in next(iter(ladders.values()))]
        axes[0].set_yticks(range(len(names)), names)
        axes[0].invert_yaxis()
        save(figure, path, "From a VMM to the prototype of 2010: time of one I/O")


def _ladder(axes: Axes, steps: Sequence[Step]) -> None:
    axes.barh(0, steps[0].us_per_io, 0.6, color="#999999")
    for y, (before, step) in enumerate(pairwise(steps), 1):
        change = step.us_per_io - before.us_per_io
        colour = SAVED if change < 0 else ADDED
        axes.barh(y, change, 0.6, left=before.us_per_io, color=colour)
    for y, (before, step) in enumerate(zip([steps[0], *steps], steps, strict=False)):
        text = f"{step.result.throughput_mbps:.0f} MB/s"
        end = max(before.us_per_io, step.us_per_io)
        axes.annotate(text, (end, y), (4, 0), **(BESIDE | {"ha": "left"}))
    axes.set_xlim(0, 1.25 * max(step.us_per_io for step in steps))
    axes.set_xlabel("us an I/O")


def draw_rates(path: Path, points: Sequence[Point]) -> None:
    """Rate over the requests at once."""
    title = "Random reads, served in the kernel and by a process"
    _draw_points(path, points, title, "thousand IOPS", lambda r: r.rate_pps / 1e3)


def draw_latencies(path: Path, points: Sequence[Point]) -> None:
    """Mean latency over the requests at once."""
    title = "Latency of random reads, served in the kernel and by a process"
    _draw_points(path, points, title, "mean, us", lambda r: r.latency.mean_ps / 1e6)


def _draw_points(
    path: Path, points: Sequence[Point], title: str, label: str, value: Callable[[Result], float]
) -> None:
    """A row a disk and block size, a column a number of processors."""
    with matplotlib.rc_context(STYLE | FRAMED):
        figure = Figure(figsize=(12, 11))
        rows = [(disk, block) for disk in DISKS for block in BLOCKS]
        panels = list(figure.subplots(len(rows), len(PROCESSORS), sharex=True, sharey="row"))
        for line, (disk, block) in zip(panels, rows, strict=True):
            for axes, (vcpus, workers) in zip(line, PROCESSORS, strict=True):
                own = [
                    p for p in points if p.key._replace(depth=0) == (disk, block, 0, vcpus, workers)
                ]
                _curves(axes, own, value)
                if line is panels[0]:
                    axes.set_title(f"virtual processors: {vcpus}, workers: {workers}", fontsize=9)
            line[0].set_ylim(0, None)
            line[0].set_ylabel(f"{disk}, {block} bytes\n{label}")
        for axes in panels[-1]:
            axes.set_xlabel("requests at once")
        panels[0][0].legend()
        save(figure, path, title)


def _curves(axes: Axes, points: Sequence[Point], value: Callable[[Result], float]) -> None:
    for server, colour in COLOURS.items():
        depths = [p.key.depth for p in points]
        values = [value(p.results[server]) for p in points]
        axes.plot(depths, values, marker="o", ms=3, color=colour, label=server)
    axes.set_xscale("log", base=2)
    axes.grid(axis="y")
