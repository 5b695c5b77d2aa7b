"""Figures in one style. Each says that it is simulated, by which version, and what it leaves out.

Each function takes plain values or results and returns a figure, which Jupyter shows and
`save` writes as .png and .svg.

>>> import vringlab as vl
>>> from vringlab import plots
>>> a, b = vl.run_many([vl.Scenario(packets=1000), vl.Scenario(packets=1000, batch=1)])
>>> plots.latency_cdf({"64 a call": a, "one a call": b})
SimulatedFigure(Latency: 1 panels, 0 notes)
"""

from vringlab.plots.curves import BatchPoint, batch_sweep, latency_cdf
from vringlab.plots.heat_map import Grid, Knob, heat_map
from vringlab.plots.scoreboard import Score, median_error_percent, read_scores, scoreboard
from vringlab.plots.style import (
    ADDED,
    BESIDE,
    COLOURS,
    FITTED,
    FRAMED,
    PREDICTED,
    SAVED,
    STYLE,
    SimulatedFigure,
    drawn,
    entitle,
    no_data,
    save,
)
from vringlab.plots.waterfall import Falls, waterfall

__all__ = [
    "ADDED",
    "BESIDE",
    "COLOURS",
    "FITTED",
    "FRAMED",
    "PREDICTED",
    "SAVED",
    "STYLE",
    "BatchPoint",
    "Falls",
    "Grid",
    "Knob",
    "Score",
    "SimulatedFigure",
    "batch_sweep",
    "drawn",
    "entitle",
    "heat_map",
    "latency_cdf",
    "median_error_percent",
    "no_data",
    "read_scores",
    "save",
    "scoreboard",
    "waterfall",
]
