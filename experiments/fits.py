"""Fits that are committed beside the experiments that use them."""

from collections.abc import Iterable
from importlib.resources import files

from vringlab import Calibration, Point


def committed(experiment: str, points: Iterable[Point], file: str = "fit.json") -> Calibration:
    """Its fit; ValueError if it was fitted to other data than these."""
    path = files("vringlab") / "experiments" / experiment / file
    fit = Calibration.from_json(path.read_text(encoding="utf-8"))
    if not fit.saw(points):
        name = f"experiments/{experiment}/{file}"
        raise ValueError(f"{name}: fitted to other data; `./lab refit` renews it")
    return fit
