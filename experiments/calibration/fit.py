"""The committed fits: to all that may be fitted, and without one source each."""

from collections.abc import Mapping, Sequence

from vringlab import Calibration, Point
from vringlab.experiments.fits import committed


def committed_fit(points: Sequence[Point]) -> Calibration:
    """fit.json; ValueError if it was fitted to other data than these."""
    return committed("calibration", points)


def committed_without(
    points: Sequence[Point], sources: Mapping[str, str]
) -> dict[str, tuple[list[Point], Calibration]]:
    """By source: its points, and the fit to all others."""
    found = {}
    for source in dict.fromkeys(sources[point.id] for point in points):
        own = [point for point in points if sources[point.id] == source]
        others = [point for point in points if sources[point.id] != source]
        found[source] = (own, committed("calibration", others, f"without_{source}.json"))
    return found
