"""The published scenarios of receive behind an IOMMU, one for each row."""

from vringlab import Scenario

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
