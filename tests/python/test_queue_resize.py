"""A guest kernel that resizes its receive queue while packets come. All figures are simulated."""

from __future__ import annotations

import pytest
import vringlab as vl

RECEIVER = vl.Scenario(
    workload="rx", guest="vm-kernel", guest_notify="interrupt", packets=20000, iommu="strict"
)


@pytest.mark.parametrize("ring_size", [8, 256, 1024])
def test_a_loop_of_resizes_maps_no_more_than_its_ring_needs(ring_size: int) -> None:
    base = RECEIVER.replace(ring_size=ring_size)
    once = vl.run(base)
    for resizes_per_s in (1e3, 1e4, 1e6):
        often = vl.run(base.replace(resizes_per_s=resizes_per_s))
        assert often.resizes > 50
        # A buffer lies on two pages at most.
        assert often.dma.mapped_pages <= 2 * ring_size
        assert often.dma.maps - often.dma.unmaps <= ring_size
        assert often.packets == once.packets
        assert often.dropped > 0


@pytest.mark.parametrize("dma_merge", [False, True])
def test_each_costs_registers_the_vmm_and_the_rings_buffers(*, dma_merge: bool) -> None:
    result = vl.run(RECEIVER.replace(dma_merge=dma_merge, resizes_per_s=1000.0))
    ledger = {
        row.cost: row.count for row in result.core("guest").ledger if row.step == "guest_reset"
    }
    assert ledger["vhost_queue_stop"] == ledger["vhost_queue_start"] == result.resizes
    assert ledger["mmio_to_vmm"] == 14 * result.resizes
    for core in result.cores:
        assert sum(row.ps for row in core.ledger) == core.busy_ps


def test_none_without_being_asked_for() -> None:
    assert vl.run(RECEIVER).resizes == 0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"guest": "vm-udp"}, "resizes_per_s = 5: must be 0 unless"),
        ({"queue_pairs": 2}, "resizes_per_s = 5: must be 0 unless"),
        ({"invalidations_per_s": 3.0}, "invalidations_per_s = 3: must be 0 where resizes_per_s"),
        ({"ring_remote": True}, "ring_remote = true: must be false where resizes_per_s"),
        ({"ring_size": 2}, "ring_size = 2: must be at least 4 where resizes_per_s"),
    ],
)
def test_refused_where_it_is_not_simulated(change: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        RECEIVER.replace(resizes_per_s=5.0, **change)
    assert RECEIVER.replace(resizes_per_s=5.0).resizes_per_s == 5
