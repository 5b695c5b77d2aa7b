"""A laboratory for virtio and vhost data paths: a real ring engine on a simulated machine.

>>> import vringlab as vl
>>> user = vl.run(vl.Scenario(packets=10000))
>>> mapped = vl.run(vl.Scenario(packets=10000, plan=vl.AccessPlan.vmap()))
>>> vl.compare(user, mapped)
Comparison(simulated ... -> ... Mpps, +... %, worker -... ns per packet)
"""

from vringlab import _native
from vringlab.access_plan import AccessPlan
from vringlab.blk import Blk, BlkResult, Disk, disks
from vringlab.calibration import Calibration, FittedPoint, Point, Unresolved
from vringlab.comparison import Comparison, Difference, compare
from vringlab.costs import (
    CostPrior,
    CostRow,
    Costs,
    Host,
    Kernel,
    Sink,
    cost_rows,
    hosts,
    kernels,
    sinks,
)
from vringlab.execute import run, run_many
from vringlab.fitting import BETWEEN_HOSTS, Joint, calibrate, calibrate_jointly
from vringlab.host_file import HostFile, MeasuredRow, host_costs, host_priors, read_host, write_host
from vringlab.influence import (
    Influence,
    NextMeasurement,
    Sensitivity,
    next_measurement,
    sensitivity,
)
from vringlab.measure_host import measure_host
from vringlab.measurements import validate_measurements
from vringlab.prediction import (
    Gain,
    PredictedPoint,
    Prediction,
    predict,
    predict_points,
    predicted,
    sample,
)
from vringlab.run_result import (
    COSTS,
    STEPS,
    CoreResult,
    DmaResult,
    Latency,
    LedgerRow,
    Result,
)
from vringlab.scenario import Scenario
from vringlab.scoreboard import Score, Summary, Validation, validate
from vringlab.sweeps import Choice, Range, SweepError, SweepResult, open_results, sweep
from vringlab.tracing import Trace, trace

version: str = _native.version
__version__ = version

__all__ = [
    "BETWEEN_HOSTS",
    "COSTS",
    "STEPS",
    "AccessPlan",
    "Blk",
    "BlkResult",
    "Calibration",
    "Choice",
    "Comparison",
    "CoreResult",
    "CostPrior",
    "CostRow",
    "Costs",
    "Difference",
    "Disk",
    "DmaResult",
    "FittedPoint",
    "Gain",
    "Host",
    "HostFile",
    "Influence",
    "Joint",
    "Kernel",
    "Latency",
    "LedgerRow",
    "MeasuredRow",
    "NextMeasurement",
    "Point",
    "PredictedPoint",
    "Prediction",
    "Range",
    "Result",
    "Scenario",
    "Score",
    "Sensitivity",
    "Sink",
    "Summary",
    "SweepError",
    "SweepResult",
    "Trace",
    "Unresolved",
    "Validation",
    "calibrate",
    "calibrate_jointly",
    "compare",
    "cost_rows",
    "disks",
    "host_costs",
    "host_priors",
    "hosts",
    "kernels",
    "measure_host",
    "next_measurement",
    "open_results",
    "predict",
    "predict_points",
    "predicted",
    "read_host",
    "run",
    "run_many",
    "sample",
    "sensitivity",
    "sinks",
    "sweep",
    "trace",
    "validate",
    "validate_measurements",
    "version",
    "write_host",
]
