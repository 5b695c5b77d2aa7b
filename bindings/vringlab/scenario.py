"""What is simulated."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Self

from vringlab import _native
from vringlab._fields import as_bool, as_float, as_int, as_str
from vringlab.access_plan import AccessPlan, native_plan
from vringlab.blk import Blk, native_blk
from vringlab.costs import Costs


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Scenario:
    """A guest that transmits, a ring, and the vhost worker that serves it.

    Nothing bad is ever constructed: a value out of range raises ValueError that names field, value
    and what is permitted; a wrong type raises TypeError.

    >>> Scenario(packets=1000, plan=AccessPlan.vmap())
    Scenario(packets=1000, plan=AccessPlan.vmap())
    >>> Scenario(ring_size=3)
    Traceback (most recent call last):
    ValueError: ring_size = 3: must be a power of two between 2 and 32768
    """

    host: str = "broadwell-2.6"
    """A processor, one of `hosts()`."""
    kernel: str = "v5.0"
    """A kernel, one of `kernels()`."""
    costs: Mapping[str, float] = Costs()
    """Cost rows set to other values, in their own units; "clock_ghz" sets the host's clock."""
    distance: str = "same_socket"
    """Guest core to worker core: same_ccx, same_socket, remote."""
    ring_remote: bool = False
    """The ring's pages have their home on the other socket; of tx and rx."""
    guest_page_bytes: int = 2097152
    """Page size of guest memory: 4096 or 2097152."""

    workload: str = "tx"
    """tx: a guest that transmits; rx: a generator in the host and a guest that receives; io and
    macswap: both, a guest that sends each frame back; stream: TCP streams from the guest to the
    host, whose sink is host_tcp; rr: the same, but each write waits for an answer; blk: jobs that
    read and write the disk of `blk`."""
    guest: str = "virtio-user"
    """virtio-user: a process, kicks are system calls; vm: a virtual machine, kicks are exits;
    vm-pktgen: the generator of a guest kernel, which publishes frame by frame; vm-kernel: a guest
    kernel that receives into a UDP socket that nobody reads, of rx; vm-udp: a process that writes
    or reads a UDP socket, a frame a system call; vm-xsk: one that does so by AF_XDP, without
    copies. A process beside its kernel's softirq has a core of its own, "app"."""
    guest_notify: str = "poll"
    """poll: the guest is never called; interrupt: it sleeps when the ring is full."""
    packets: int = 100000
    """Frames to send, or to receive."""
    packet_bytes: int = 64
    """Length of a frame, the virtio-net header not counted."""
    guest_burst: int = 32
    """Frames between two publications of the avail index."""
    mergeable: bool = True
    """MRG_RXBUF is negotiated: a received frame may fill several buffers."""
    iommu: str = "off"
    """Of a guest kernel: off; passthrough, there is one and it maps nothing; lazy, its IOTLB is
    told of 250 unmaps at once, or after 10 ms; strict, of each; swiotlb, there is none and what is
    mapped is copied through a pool."""
    dma_merge: bool = False
    """A receiving kernel maps a fragment at once, not each buffer cut from it."""
    fragment_bytes: int = 32768
    """Of a receiving kernel: bytes of the fragments that its buffers are cut from."""
    min_buffer_bytes: int = 1514
    """Of a receiving kernel: bytes of a packet that each of its buffers takes at least; more, up to
    a page, where packets are longer."""
    napi_defer_us: float = 0.0
    """Of a receiving kernel: after a poll that found something, so long with interrupts off until
    the next poll; 0: interrupts at once."""
    napi_tx: bool = True
    """Of vm-udp, sending: what was sent is freed by a softirq that the device calls, as Linux's
    virtio-net does by default since 5.3; else when the next frame is sent."""
    xsk_ring: int = 2048
    """Of vm-xsk: entries of each of the socket's rings."""
    receive_buffer_bytes: int = 212992
    """Of vm-udp, receiving: memory of the packets that may wait in its socket."""
    iotlb_entries: int = 64
    """Of a guest kernel behind an IOMMU that maps: pages that its IOTLB holds for the device."""
    swiotlb_slots: int = 4096
    """Of a guest kernel where iommu is swiotlb: slots of 2 KiB in the pool of a guest core."""
    rx_buffer_bytes: int = 2048
    """Bytes of a receive buffer, its virtio-net header not counted."""
    split_header: bool = False
    """The header is in a descriptor of its own; of tx."""
    sender: str = "pktgen"
    """Who sends what a guest receives, of rx, io and macswap: pktgen, the generator of the host's
    kernel; udp, a process of the host, a small message a system call, by a socket whose route is
    the TAP: the bytes of a longer one are not charged."""
    offered_pps: float = 0.0
    """Packets a second that the guest, or who sends to it, offers; 0: as fast as it can."""
    arrival: str = "periodic"
    """periodic or poisson, where offered_pps is set."""

    queue_pairs: int = 1
    """Of tx, rx, io and macswap: each has a guest core and, but for tx, a generator of its own.

    Of tx and rx only the queue that is used exists; guests vm-kernel share an IOMMU. offered_pps
    and nic_pps are those of one pair, packets of all. Several have no busy polling, invalidations,
    inline kicks, remote ring or zero-copy. Of stream and rr: sessions go to pairs in turn, and
    each pair interrupts one virtual processor."""
    workers: int = 1
    """They serve the queues of the pairs in turn; one without sleeps. Of blk those of the disk."""
    worker_cores: int = 0
    """Cores that the workers share, worker by worker in turn; 0: each has a core of its own.

    At most workers. Not of one queue of tx or rx, and not of blk."""

    message_bytes: int = 16384
    """Bytes of one write into a TCP stream."""
    sessions: int = 1
    """TCP streams, each written by a process of its own."""
    vcpus: int = 4
    """Virtual processors that the writers share; the first takes the interrupts of the first pair
    too, the next one those of the next pair, and so on in turn."""
    send_buffer_bytes: int = 65536
    """Bytes that a stream may have unsent or unacknowledged."""
    stream_ms: float = 10.0
    """Milliseconds of simulated time that streams run for."""

    ring_size: int = 256
    """Entries of the ring, a power of two."""
    ring_offset: int = 0
    """Bytes from a page start to the descriptor table."""
    event_idx: bool = False
    """EVENT_IDX is negotiated."""
    indirect: bool = False
    """INDIRECT_DESC is negotiated."""

    plan: AccessPlan = AccessPlan()  # noqa: RUF009
    """How ring metadata is reached."""
    tap_entries: int = 500
    """Frames that wait in the TAP device for the worker, or for the reader of xdp_tx."""
    sink: str = "xdp_drop"
    """What the socket is and does with a frame, one of `sinks()`."""
    tx_batching: bool = True
    """Frames go to the socket as batches of XDP buffers; False: one call a frame, as with a limited
    send buffer, or before such batches existed."""
    batch: int = 64
    """Frames that are handed to the socket, and chains that are given back, at once."""
    zerocopy: bool = False
    """Long frames are lent to the socket instead of copied; for sinks without a program."""
    zerocopy_min_bytes: int = 256
    """Bytes of the shortest frame that is lent."""
    nic_pps: float = 0.0
    """Frames a second that a NIC behind the sink can send; 0: all."""
    copy_batch: int = 1
    """Packets whose copies share one user access section."""
    weight_packets: int = 256
    """Packets of one run of the device loop."""
    weight_bytes: int = 0x80000
    """Bytes of one run of the device loop."""
    busy_poll_us: float = 0.0
    """Microseconds that the worker polls before it sleeps; of tx and rx."""
    inline_packets: int = 0
    """Packets that a kick serves without waking the worker; of tx."""
    invalidations_per_s: float = 0.0
    """Times a second that the ring's mapping is invalidated; of tx and rx."""
    resizes_per_s: float = 0.0
    """Times a second that the guest resizes its receive queue, to half of ring_size and back.

    Of rx, one queue and guest vm-kernel. A resize waits for the one before it, and for a packet
    since: so they may be fewer. What the guest had not yet taken out of the queue is lost, and
    counts as dropped."""

    blk: Blk = Blk()  # noqa: RUF009
    """The disk and its jobs, of the workload blk, where a packet is an I/O."""

    seed: int = 0
    """Of random arrivals."""
    tie_seed: int = 0
    """0: actors whose clocks are equal go in a fixed order; else in a permutation of it."""
    skip_polls: bool = True
    """Empty polls of the guest are accounted in a row, not stepped one by one."""

    def __post_init__(self) -> None:
        for field in fields(self):
            value = _CHECKS[field.type](field.name, getattr(self, field.name))
            object.__setattr__(self, field.name, value)
        _native.check_scenario(native_scenario(self))

    def replace(self, **changes: Any) -> Self:
        """The same scenario with other values of these fields.

        >>> Scenario(batch=1).replace(packets=10)
        Scenario(packets=10, batch=1)
        """
        return replace(self, **changes)

    def to_dict(self) -> dict[str, Any]:
        """The fields, as JSON knows them; `Scenario(**fields)` takes all but plan and blk back."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        nested = {"plan": self.plan.to_dict(), "blk": self.blk.to_dict()}
        return values | {"costs": dict(self.costs)} | nested

    def changes(self) -> dict[str, Any]:
        """The fields that differ from the defaults.

        >>> Scenario(batch=1).changes()
        {'batch': 1}
        """
        values = {field.name: (getattr(self, field.name), field.default) for field in fields(self)}
        return {name: value for name, (value, default) in values.items() if value != default}

    def summary(self) -> str:
        """One line a field; those that differ from the defaults are marked.

        >>> print(Scenario(batch=1).summary())
          host                 broadwell-2.6
        ...
        * batch                1
        ...
        """
        changed = self.changes()
        return "\n".join(
            f"{'*' if f.name in changed else ' '} {f.name:20} {getattr(self, f.name)}"
            for f in fields(self)
        )

    def __repr__(self) -> str:
        changes = (f"{name}={value!r}" for name, value in self.changes().items())
        return f"Scenario({', '.join(changes)})"


def _as_costs(_: str, value: Any) -> Costs:
    return value if isinstance(value, Costs) else Costs(value)


def _as_plan(field: str, value: Any) -> AccessPlan:
    if not isinstance(value, AccessPlan):
        raise TypeError(f"{field} must be an AccessPlan, not {type(value).__name__}: {value!r:.80}")
    return value


def _as_blk(field: str, value: Any) -> Blk:
    if not isinstance(value, Blk):
        raise TypeError(f"{field} must be a Blk, not {type(value).__name__}: {value!r:.80}")
    return value


_CHECKS: dict[Any, Callable[[str, Any], Any]] = {
    bool: as_bool,
    int: as_int,
    float: as_float,
    str: as_str,
    Mapping[str, float]: _as_costs,
    AccessPlan: _as_plan,
    Blk: _as_blk,
}


def native_scenario(scenario: Scenario) -> _native.Scenario:
    """The scenario as the simulator takes it. ValueError where an int does not fit its field."""
    native = _native.Scenario()
    for field in fields(scenario):
        value = getattr(scenario, field.name)
        if field.name == "plan":
            native.plan = native_plan(value)
        elif field.name == "blk":
            native.blk = native_blk(value, set_native)
        elif field.name == "costs":
            native.costs = dict(value)
        else:
            set_native(native, field.name, value)
    return native


def set_native(native: Any, field: str, value: Any) -> None:
    try:
        setattr(native, field, value)
    except TypeError:
        # Python refuses to print integers of many digits.
        shown = value if abs(value) < 2**128 else f"an integer of {value.bit_length()} bits"
        blk = isinstance(native, _native.BlkScenario)
        name = f"blk.{field}" if blk else field
        raise ValueError(f"{name} = {shown}: {_permitted(field, blk)}") from None


def _permitted(field: str, blk: bool) -> str:
    """What the simulator permits for an integer field: what it says to the largest one."""
    native = _native.Scenario()
    owner: Any = native
    if blk:
        native.workload = "blk"
        owner = _native.BlkScenario()
    largest = 2**64 - 1
    try:
        setattr(owner, field, largest)
    except TypeError:
        largest = 2**32 - 1
        setattr(owner, field, largest)
    if blk:
        native.blk = owner
    try:
        _native.check_scenario(native)
    except ValueError as refusal:
        return str(refusal).partition(": ")[2]
    return f"must be between 0 and {largest}"
