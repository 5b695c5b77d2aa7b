"""What the figures of all experiments share, on top of `vringlab.plots`."""

from collections.abc import Mapping
from pathlib import Path

from matplotlib.figure import Figure
from vringlab import Comparison, plots
from vringlab.plots import ADDED, BESIDE, FITTED, FRAMED, PREDICTED, SAVED, STYLE

__all__ = [
    "ADDED",
    "BESIDE",
    "FITTED",
    "FRAMED",
    "PREDICTED",
    "SAVED",
    "STYLE",
    "draw_waterfall",
    "save",
]


def draw_waterfall(
    path: Path, panels: Mapping[str, Comparison], *, before: str, after: str, title: str
) -> None:
    """A core's time a packet, from before to after, by step and cost; one panel a title."""
    plots.save(plots.waterfall(panels, before=before, after=after, title=title), path)


def save(figure: Figure, path: Path, title: str) -> None:
    """As .png and .svg, the same bytes each time."""
    plots.entitle(figure, title)
    plots.save(figure, path)
