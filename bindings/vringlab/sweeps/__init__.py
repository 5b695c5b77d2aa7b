"""Sweeps: many scenarios that differ in a few fields, run once each, kept as Parquet.

`sweep` runs them and `open_results` reads what it wrote; both give a `SweepResult`.
"""

from vringlab.sweeps.axes import Choice, Range
from vringlab.sweeps.files import SweepError
from vringlab.sweeps.result import SweepResult, open_results
from vringlab.sweeps.sweep import sweep

__all__ = ["Choice", "Range", "SweepError", "SweepResult", "open_results", "sweep"]
