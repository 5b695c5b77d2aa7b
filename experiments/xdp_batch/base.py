"""The published scenarios of batching, one for each row, and what their numbers are worth."""

from collections.abc import Callable, Iterable

from vringlab import Result, Scenario
from vringlab.experiments.vmap.base import RATES as VMAP_RATES

SEED = 1
BATCHES = (1, 16, 32, 64, 128, 256, 512)
SWEEP_SIGMA = 0.05
"""Standard deviation of ln(rate) in the sweep, whose author's notes put its noise at about 10 %."""

# testpmd over virtio-user, small packets; a server of its time that has no name.
SMALL = Scenario(host="unnamed-2018", kernel="v5.0", packet_bytes=64, batch=64, packets=20_000)
# VHOST_NET_BATCH is at once the XDP buffers and the used elements of transmit, and the frames
# dequeued and the used elements of receive.
SWEEP = Scenario(
    host="broadwell-e5-2650v4", kernel="v5.0", packet_bytes=64, ring_size=1024, packets=20_000
)

SWEEP_RATES = {
    f"batchsweep.{workload}.{batch}": SWEEP.replace(workload=workload, batch=batch)
    for workload in ("tx", "rx")
    for batch in BATCHES
}
# Before the change each packet is a call of its own; used elements were batched already.
GAINS = {
    f"xdpbatch.{name}": tuple(
        SMALL.replace(sink=sink, tx_batching=batching) for batching in (False, True)
    )
    for name, sink in {
        "drop": "xdp_drop",
        "redirect": "xdp_redirect",
        "macvtap": "macvtap",
    }.items()
}
CALIBRATED = VMAP_RATES | SWEEP_RATES
"""Scenarios of all rates that may be fitted; those to predict are left out by `use`."""

Run = Callable[[Iterable[Scenario]], list[Result]]
"""Runs scenarios with the fitted costs, in their order."""
