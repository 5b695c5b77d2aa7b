"""What do all rates that may be fitted say together about the cost rows?

The sources share rows but no machine. What no row explains on a host is drawn around what all hosts
have in common (docs/validation.md has the maths). If the rows mean the same on every host, a source
that is left out should come out inside its interval, predicted from the others.
"""

from pathlib import Path

from vringlab import predict_points
from vringlab.experiments.calibration.base import SEED, joint_points, sources
from vringlab.experiments.calibration.fit import committed_fit, committed_without
from vringlab.experiments.calibration.report import (
    report,
    write_correlations,
    write_left_out,
    write_points,
)
from vringlab.experiments.vmap.tables import write_posterior
from vringlab.published import load_published


def main(folder: Path, check: bool) -> None:
    """Writes the tables and the report of results/calibration."""
    published = [row for row in load_published() if row.use == "calibrate"]
    points, owners = joint_points(published), sources(published)
    fit = committed_fit(points)
    left_out = {
        source: predict_points(own, others, seed=SEED)
        for source, (own, others) in committed_without(points, owners).items()
    }

    write_posterior(folder / "posterior.csv", fit)
    write_correlations(folder / "correlations.csv", fit)
    write_points(folder / "points.csv", fit, owners)
    write_left_out(folder / "leave_one_out.csv", left_out)
    text = report(fit, left_out)
    (folder / "report.md").write_text(text, encoding="utf-8", newline="\n")
    assert all(abs(point.residual) < 3 for point in fit.points), "the rows agree with all sources"
