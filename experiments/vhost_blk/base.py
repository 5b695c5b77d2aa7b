"""The published scenarios of block devices, one for each row, and what their numbers are worth."""

from collections.abc import Callable, Iterable
from typing import Any

from vringlab import Blk, Result, Scenario

SEED = 1
SIGMA_2010 = 0.05
"""Standard deviation of ln(rate): the author rounds ("about 110") and shows one run each."""
SIGMA_2022 = 0.03
"""Of the later rows: the author repeated some, 79400 against 79900 and 57500 against 61500."""

READS, WRITES = 1500, 120
"""I/Os of a run; the published ones have 640000. Where each write is on the disk before it returns
nothing changes after the first hundred."""
LONG = 8
"""Times as many where writes stay in the page cache."""

# A server of early 2010 that has no name. Its VMM opens the image with the default of that time,
# write-through, and hands the same open file to the kernel's thread, which so writes through too.
MACHINE: dict[str, Any] = {
    "workload": "blk",
    "host": "unnamed-2010",
    "kernel": "v2.6.33",
    "guest": "vm",
    "vcpus": 1,
    "indirect": True,
}
# dd with direct I/O: one system call at a time. A kick leaves guest mode for user space, where the
# thread of the virtual processor takes requests from the ring; an interrupt is a line of the bus.
DISK: dict[str, Any] = {
    "disk": "array-2010",
    "cache": "writethrough",
    "queue_depth": 1,
    "pattern": "sequential",
    "cache_bytes": 1 << 27,  # little, so that a short run is where a long one gets
}
VMM: dict[str, Any] = {"form": "vmm", "engine": "threads", "kick": "exit", "interrupt": "ioctl"}
VHOST: dict[str, Any] = {"form": "vhost-2010", "sector_shift": 8}


def dd(operation: str, **blk: Any) -> Scenario:
    """dd of the published block size; `blk`: fields of Blk that it does not have from DISK."""
    block, ios = (131072, READS) if operation == "read" else (2097152, WRITES)
    fields = {**DISK, "operation": operation, "block_bytes": block, "disk_bytes": block * ios}
    return Scenario(packets=ios, blk=Blk(**{**fields, **blk}), **MACHINE)


def fio(operation: str, **blk: Any) -> Scenario:
    """fio, libaio, direct, 4 KiB at random, 128 at once, on a SATA SSD; the host has no name."""
    fields = {"disk": "sata-ssd", "disk_bytes": 100 << 30, "queue_depth": 128}
    return Scenario(
        workload="blk",
        host="icelake-2.9",
        kernel="v6.2",
        guest="vm",
        vcpus=1,
        indirect=True,
        packets=5_000,
        blk=Blk(**{**fields, "operation": operation, **blk}),
    )


RATES = {
    "blk.read.qemu": dd("read", **VMM),
    "blk.read.vhost": dd("read", **VHOST),
    "blk.write.qemu": dd("write", **VMM),
    "blk.write.vhost": dd("write", **VHOST),
    "blk2022.randread.ssd.host": fio("read", form="host"),
    "blk2022.randread.ssd.qemu": fio("read", form="vmm"),
    "blk2022.randread.ssd.vhost": fio("read"),
    "blk2022.randwrite.ssd.host": fio("write", form="host"),
    "blk2022.randwrite.ssd.qemu": fio("write", form="vmm"),
    "blk2022.randwrite.ssd.vhost": fio("write"),
}
"""By the id of the row."""
SYSTEM = {"blk.read.qemu.sys": "blk.read.qemu", "blk.read.vhost.sys": "blk.read.vhost"}
"""Rows of the guest's system time, and the run they are of."""
DD_IOS = 640_000
"""I/Os of the published runs of which system time is known."""


def sigma_of(row: str) -> float:
    """The noise of a row's measurement."""
    return SIGMA_2022 if row.startswith("blk2022") else SIGMA_2010


def bound_by(row: str) -> str:
    """The core whose unmodelled share a row states: a VMM of 2010 works on the guest's."""
    return "guest" if row in ("blk.read.qemu", "blk.write.qemu") else "worker"


Run = Callable[[Iterable[Scenario]], list[Result]]
"""Runs scenarios with the fitted costs, in their order."""
