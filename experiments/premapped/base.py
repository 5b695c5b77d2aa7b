"""The published scenarios of receive behind an IOMMU and of AF_XDP, one for each row."""

from collections.abc import Callable, Iterable
from typing import NamedTuple

from vringlab import Result, Scenario

Run = Callable[[Iterable[Scenario]], list[Result]]
"""Simulates scenarios at a fit."""


SEED = 1
SIGMA = 0.05
"""Standard deviation of ln(rate): an earlier run of the same series differs by 9 %."""

# Nobody said what machine, what packets or what sent them; small ones, as they come.
RECEIVE = Scenario(
    workload="rx",
    guest="vm-kernel",
    guest_notify="interrupt",
    host="unnamed-2023",
    kernel="v6.2",
    ring_size=256,
    packet_bytes=64,
    packets=60_000,
)
RATES = {
    f"dmamerge.{mode}.{when}": RECEIVE.replace(iommu=mode, dma_merge=when == "after")
    for mode in ("lazy", "strict")
    for when in ("before", "after")
}
"""By the id of the row."""

# A guest of a virtual machine and a kernel vhost; what stands behind its TAP was not published.
# QEMU's defaults: 256 entries, event index, indirect tables. Nor was it said what sends to the
# guest; sockperf sends message by message, by a socket.
SOCKET = Scenario(
    host="skylake-8163-2.5",
    kernel="v6.2",
    guest_notify="interrupt",
    sink="bridge",
    ring_size=256,
    event_idx=True,
    packet_bytes=64,
    guest_burst=64,
    packets=60_000,
)
SEND = SOCKET.replace(workload="tx", indirect=True)
RECEIVE_SOCKET = SOCKET.replace(workload="rx", sender="udp")
SOCKETS = {
    "afxdp.xmit.sockperf": SEND.replace(guest="vm-udp"),
    "afxdp.xmit.xsk": SEND.replace(guest="vm-xsk"),
    "afxdp.recv.sockperf": RECEIVE_SOCKET.replace(guest="vm-udp"),
    "afxdp.recv.xsk": RECEIVE_SOCKET.replace(guest="vm-xsk"),
}
"""By the id of the rows, their last part left out."""


class Columns(NamedTuple):
    """Which core of the simulation a published column is about."""

    vhost_cpu: str
    app_cpu: str
    softirq_cpu: str


def columns_of(name: str) -> Columns:
    """A process that sends by a socket does all of it in its own time."""
    app = "guest" if name == "afxdp.xmit.sockperf" else "app"
    return Columns("worker", app, "guest")


def bound_by(name: str) -> str:
    """The core whose time a rate is."""
    return "guest" if name.endswith("sockperf") else "worker"
