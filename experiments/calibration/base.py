"""All rates that may be fitted, of all experiments together, and whose they are."""

from collections.abc import Iterable
from dataclasses import replace

from vringlab import Point
from vringlab.experiments.premapped.fit import SCENARIOS
from vringlab.experiments.premapped.fit import calibration_points as premapped_points
from vringlab.experiments.vhost_blk.fit import calibration_points as blk_points
from vringlab.experiments.vhost_blk.system_time import published_system_times
from vringlab.experiments.xdp_batch.fit import calibration_points as network_points
from vringlab.published import Published

SEED = 1
PACKETS = 10_000
"""Of a packet run, of which the fits of one experiment take more: thousands of runs are needed."""
IOMMU_PACKETS = 20_000
"""Behind an IOMMU, whose deferred invalidations take longer to become steady."""


def sources(published: Iterable[Published]) -> dict[str, str]:
    """Whose measurement a row is, by its id."""
    return {row.id: row.source for row in (*published, *published_system_times())}


def joint_points(published: Iterable[Published]) -> list[Point]:
    """What may be fitted: a row to predict does not even get here."""
    rows = [row for row in published if row.use == "calibrate"]
    times = [row for row in published_system_times() if row.use == "calibrate"]
    points = network_points(rows) + blk_points([*rows, *times])
    for file in SCENARIOS:
        points += premapped_points(rows, file)
    return [_short(point) for point in points]


def _short(point: Point) -> Point:
    scenario = point.scenario
    if scenario.workload == "blk":
        return point
    most = PACKETS if scenario.iommu == "off" else IOMMU_PACKETS
    return replace(point, scenario=scenario.replace(packets=min(scenario.packets, most)))
