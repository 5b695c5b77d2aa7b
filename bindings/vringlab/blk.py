"""A block device and what a guest asks of it, and what came of that."""

from collections.abc import Callable
from dataclasses import asdict, dataclass, fields
from functools import cache
from typing import Any

from vringlab import _native
from vringlab._fields import as_bool, as_float, as_int, as_str

_CHECKS: dict[Any, Callable[[str, Any], Any]] = {
    bool: as_bool,
    int: as_int,
    float: as_float,
    str: as_str,
}


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Blk:
    """The disk, who serves it and the jobs that use it: `Scenario.blk` of the workload "blk".

    An I/O is what a job asks for at once: `Scenario.packets` of them are made, shared by the jobs.
    Values are checked by the Scenario that the Blk becomes a part of.

    >>> Blk(form="vmm", queue_depth=1)
    Blk(form='vmm', queue_depth=1)
    """

    form: str = "vhost-bio"
    """Who serves the queues. vhost-2010: a kernel thread that reads and writes a file, one request
    at a time, and waits for it; vhost-bio: a kernel thread that gives requests to the block layer
    and goes on; vmm: a process in user space; host: nobody, the jobs run on the host itself."""
    disk: str = "nvme"
    """One of `disks()`."""
    disk_bytes: int = 1 << 30
    """Capacity, bytes. Jobs in sequence begin again at the end of their part of it."""
    cache: str = "none"
    """How the host has the file open: none, past its page cache; writeback; writethrough, each
    write is on the disk before it is done."""
    engine: str = "threads"
    """How a vmm reads and writes: threads, a pool whose threads wait for one request each; aio or
    io_uring, a batch is submitted at once and waited for later."""
    pool_threads: int = 64
    """Threads of that pool, each on a core of its own."""
    merge_writes: bool = True
    """A vmm makes one of adjacent writes that it finds in the queue at once, up to 2 MiB."""
    kick: str = "ioeventfd"
    """Of a vmm: ioeventfd, a kick wakes its event loop; exit, the virtual processor leaves guest
    mode and serves the queue itself."""
    interrupt: str = "irqfd"
    """Of a vmm: irqfd; ioctl, and the guest leaves for user space to read the cause."""
    sector_shift: int = 9
    """Bytes are 1 << this a sector; 8 is the fault of the prototype of 2010."""
    queues: int = 1
    """Virtqueues, at most one a virtual processor; workers serve them in turn."""
    operation: str = "read"
    """read; write; mixed; write-read, the second half of the I/Os reads what the first wrote."""
    pattern: str = "random"
    """random; sequential."""
    read_share: float = 0.5
    """Of mixed: the share of I/Os that read."""
    block_bytes: int = 4096
    """Bytes of an I/O."""
    jobs: int = 1
    """Processes, each with a part of the disk of its own; they share the virtual processors."""
    queue_depth: int = 32
    """I/Os of a job at once; with 1 a system call waits for each."""
    flush_every: int = 0
    """A job flushes after so many writes; 0: never."""
    segment_bytes: int = 4096
    """Bytes of guest memory of one descriptor."""
    max_segments: int = 128
    """Descriptors of a request, header and status apart."""
    request_bytes: int = 524288
    """Bytes of the largest request that the guest's block layer builds."""
    read_ahead_bytes: int = 131072
    """Bytes that the host reads ahead of a file read in sequence, at most."""
    cache_bytes: int = 1 << 30
    """Bytes of the host's page cache."""
    dirty_share: float = 0.2
    """Share of it that may be dirty; beyond that writers wait."""
    background_share: float = 0.1
    """Share beyond which dirty pages are written back."""
    data: bool = False
    """Bytes are moved, not only their time spent; what is read again is compared."""

    def __post_init__(self) -> None:
        for field in fields(self):
            value = _CHECKS[field.type](f"blk.{field.name}", getattr(self, field.name))
            object.__setattr__(self, field.name, value)

    def changes(self) -> dict[str, Any]:
        """The fields that differ from the defaults.

        >>> Blk(disk="ram").changes()
        {'disk': 'ram'}
        """
        values = {field.name: (getattr(self, field.name), field.default) for field in fields(self)}
        return {name: value for name, (value, default) in values.items() if value != default}

    def to_dict(self) -> dict[str, Any]:
        """The fields, as JSON knows them; `Blk(**fields)` takes them back.

        >>> Blk(**Blk(disk="ram").to_dict())
        Blk(disk='ram')
        """
        return asdict(self)

    def __repr__(self) -> str:
        return f"Blk({', '.join(f'{name}={value!r}' for name, value in self.changes().items())})"


@dataclass(frozen=True, slots=True, kw_only=True)
class BlkResult:
    """What a run of the workload "blk" has besides a `Result`; zeros in others."""

    requests: int
    """That the guest made of its I/Os, flushes too."""
    failed: int
    """Of those, answered with another status than OK."""
    merged: int
    """Requests that a vmm merged into others."""
    disk_requests: int
    """That the disk worked on."""
    disk_merged: int
    """Merged into others before it did."""
    disk_read_bytes: int
    disk_write_bytes: int
    disk_busy_ps: int
    """Picoseconds that what the disk has only once was busy."""
    cache_hit_pages: int
    """Pages read through the host's page cache and there when they were needed."""
    cache_miss_pages: int
    """Of such reads, how often a thread waited for the disk."""
    guest_system_ps: int
    """Picoseconds of all virtual processors, the application's part and idle time apart."""
    wrong_bytes: int
    """Bytes read again that were not what had been written."""
    data_hash: int
    """FNV-1a of the disk at the end, where data is moved."""


@dataclass(frozen=True, slots=True)
class Disk:
    """A disk that `Blk.disk` names.

    >>> [disk.depth for disk in disks() if disk.name == "sata-ssd"]
    [32]
    """

    name: str
    doc: str
    depth: int
    """Requests that it works on at once; 0: whoever submits does the work."""


@cache
def disks() -> tuple[Disk, ...]:
    """The disks that `Blk.disk` names."""
    return tuple(Disk(d.name, d.doc, d.depth) for d in _native.disk_presets())


def native_blk(blk: Blk, set_field: Callable[[Any, str, Any], None]) -> _native.BlkScenario:
    """The block device as the simulator takes it."""
    native = _native.BlkScenario()
    for field in fields(blk):
        set_field(native, field.name, getattr(blk, field.name))
    return native
