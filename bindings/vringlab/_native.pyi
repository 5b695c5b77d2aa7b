"""
The simulator, as plain structs; the package vringlab wraps all of it.
"""
from __future__ import annotations
import collections.abc
import enum
import numpy
import numpy.typing
import typing
__all__: list[str] = ['AccessPlan', 'BlkResult', 'BlkScenario', 'CalibrationPoint', 'CoreResult', 'CostRow', 'DiskPreset', 'DmaResult', 'Fit', 'Guard', 'HostPreset', 'KernelPreset', 'LatencyResult', 'LedgerRow', 'Meter', 'Parameter', 'Place', 'Probe', 'Range', 'Reading', 'RunControl', 'RunResult', 'Scenario', 'SectionSpan', 'SinkInfo', 'Trace', 'TraceFlow', 'TracePart', 'TraceSlice', 'Translation', 'UsedElement', 'UserAccess', 'batch_columns', 'calibrate', 'check_scenario', 'compiler', 'copy_scenario', 'cost_names', 'cost_rows', 'disk_presets', 'draw_posterior', 'free_parameters', 'host_presets', 'kernel_presets', 'leave_out', 'model', 'probes', 'run', 'run_batch', 'run_traced', 'sink_infos', 'standard_normals', 'step_names', 'version', 'with_parameters']
class CostRow:
    @property
    def at_ghz(self) -> float:
        ...
    @property
    def best(self) -> float:
        ...
    @property
    def cpu(self) -> str:
        ...
    @property
    def evidence(self) -> str:
        ...
    @property
    def high(self) -> float:
        ...
    @property
    def low(self) -> float:
        ...
    @property
    def name(self) -> str:
        ...
    @property
    def source(self) -> str:
        ...
    @property
    def unit(self) -> str:
        ...
class Range:
    @property
    def best(self) -> float:
        ...
    @property
    def high(self) -> float:
        ...
    @property
    def low(self) -> float:
        ...
class HostPreset:
    @property
    def apic_exits(self) -> int:
        ...
    @property
    def clock_ghz(self) -> Range:
        ...
    @property
    def copy_startup(self) -> str:
        ...
    @property
    def doc(self) -> str:
        ...
    @property
    def l1_bytes(self) -> int:
        ...
    @property
    def l2_bytes(self) -> int:
        ...
    @property
    def l3_bytes(self) -> int:
        ...
    @property
    def lfence(self) -> str:
        ...
    @property
    def name(self) -> str:
        ...
    @property
    def stac_clac(self) -> str:
        ...
    @property
    def transfer_socket(self) -> str:
        ...
class KernelPreset:
    @property
    def copy_nospec(self) -> bool:
        ...
    @property
    def doc(self) -> str:
        ...
    @property
    def frag_bias(self) -> bool:
        ...
    @property
    def hardened_usercopy(self) -> bool:
        ...
    @property
    def kpti(self) -> bool:
        ...
    @property
    def name(self) -> str:
        ...
    @property
    def nospec(self) -> bool:
        ...
    @property
    def old_vmm(self) -> bool:
        ...
    @property
    def retpoline(self) -> bool:
        ...
    @property
    def smap(self) -> bool:
        ...
class SinkInfo:
    @property
    def doc(self) -> str:
        ...
    @property
    def held(self) -> int:
        ...
    @property
    def name(self) -> str:
        ...
    @property
    def program(self) -> bool:
        ...
class DiskPreset:
    @property
    def depth(self) -> int:
        ...
    @property
    def doc(self) -> str:
        ...
    @property
    def name(self) -> str:
        ...
class Guard(enum.Enum):
    atomic: typing.ClassVar[Guard]
    counter: typing.ClassVar[Guard]
    none: typing.ClassVar[Guard]
    rcu: typing.ClassVar[Guard]
    spinlock: typing.ClassVar[Guard]
    @classmethod
    def __new__(cls, value):
        ...
class UserAccess(enum.Enum):
    copy_user: typing.ClassVar[UserAccess]
    masked: typing.ClassVar[UserAccess]
    section: typing.ClassVar[UserAccess]
    shared_fixup: typing.ClassVar[UserAccess]
    @classmethod
    def __new__(cls, value):
        ...
class SectionSpan(enum.Enum):
    one_area: typing.ClassVar[SectionSpan]
    several_areas: typing.ClassVar[SectionSpan]
    @classmethod
    def __new__(cls, value):
        ...
class UsedElement(enum.Enum):
    block: typing.ClassVar[UsedElement]
    two_words: typing.ClassVar[UsedElement]
    @classmethod
    def __new__(cls, value):
        ...
class Translation(enum.Enum):
    iotlb: typing.ClassVar[Translation]
    iotlb_metadata_cache: typing.ClassVar[Translation]
    user_address: typing.ClassVar[Translation]
    @classmethod
    def __new__(cls, value):
        ...
class AccessPlan:
    guard: Guard
    map_avail: bool
    map_desc: bool
    map_used: bool
    section_span: SectionSpan
    translation: Translation
    used_element: UsedElement
    user_access: UserAccess
    def __init__(self) -> None:
        ...
class BlkScenario:
    cache: str
    data: bool
    disk: str
    engine: str
    form: str
    interrupt: str
    kick: str
    merge_writes: bool
    operation: str
    pattern: str
    def __init__(self) -> None:
        ...
    @property
    def background_share(self) -> float:
        ...
    @background_share.setter
    def background_share(self, arg0: typing.SupportsFloat | typing.SupportsIndex) -> None:
        ...
    @property
    def block_bytes(self) -> int:
        ...
    @block_bytes.setter
    def block_bytes(self, arg0: typing.SupportsInt | typing.SupportsIndex) -> None:
        ...
    @property
    def cache_bytes(self) -> int:
        ...
    @cache_bytes.setter
    def cache_bytes(self, arg0: typing.SupportsInt | typing.SupportsIndex) -> None:
        ...
    @property
    def dirty_share(self) -> float:
        ...
    @dirty_share.setter
    def dirty_share(self, arg0: typing.SupportsFloat | typing.SupportsIndex) -> None:
        ...
    @property
    def disk_bytes(self) -> int:
        ...
    @disk_bytes.setter
    def disk_bytes(self, arg0: typing.SupportsInt | typing.SupportsIndex) -> None:
        ...
    @property
    def flush_every(self) -> int:
        ...
    @flush_every.setter
    def flush_every(self, arg0: typing.SupportsInt | typing.SupportsIndex) -> None:
        ...
    @property
    def jobs(self) -> int:
        ...
    @jobs.setter
    def jobs(self, arg0: typing.SupportsInt | typing.SupportsIndex) -> None:
        ...
    @property
    def max_segments(self) -> int:
        ...
    @max_segments.setter
    def max_segments(self, arg0: typing.SupportsInt | typing.SupportsIndex) -> None:
        ...
    @property
    def pool_threads(self) -> int:
        ...
    @pool_threads.setter
    def pool_threads(self, arg0: typing.SupportsInt | typing.SupportsIndex) -> None:
        ...
    @property
    def queue_depth(self) -> int:
        ...
    @queue_depth.setter
    def queue_depth(self, arg0: typing.SupportsInt | typing.SupportsIndex) -> None:
        ...
    @property
    def queues(self) -> int:
        ...
    @queues.setter
    def queues(self, arg0: typing.SupportsInt | typing.SupportsIndex) -> None:
        ...
    @property
    def read_ahead_bytes(self) -> int:
        ...
    @read_ahead_bytes.setter
    def read_ahead_bytes(self, arg0: typing.SupportsInt | typing.SupportsIndex) -> None:
        ...
    @property
    def read_share(self) -> float:
        ...
    @read_share.setter
    def read_share(self, arg0: typing.SupportsFloat | typing.SupportsIndex) -> None:
        ...
    @property
    def request_bytes(self) -> int:
        ...
    @request_bytes.setter
    def request_bytes(self, arg0: typing.SupportsInt | typing.SupportsIndex) -> None:
        ...
    @property
    def sector_shift(self) -> int:
        ...
    @sector_shift.setter
    def sector_shift(self, arg0: typing.SupportsInt | typing.SupportsIndex) -> None:
        ...
    @property
    def segment_bytes(self) -> int:
        ...
    @segment_bytes.setter
    def segment_bytes(self, arg0: typing.SupportsInt | typing.SupportsIndex) -> None:
        ...
class Scenario:
    arrival: str
    blk: BlkScenario
    distance: str
    dma_merge: bool
    event_idx: bool
    guest: str
    guest_notify: str
    host: str
    indirect: bool
    iommu: str
    kernel: str
    mergeable: bool
    napi_tx: bool
    plan: AccessPlan
    ring_remote: bool
    sender: str
    sink: str
    skip_polls: bool
    split_header: bool
    tx_batching: bool
    workload: str
    zerocopy: bool
    def __init__(self) -> None:
        ...
    @property
    def batch(self) -> int:
        ...
    @batch.setter
    def batch(self, arg0: typing.SupportsInt | typing.SupportsIndex) -> None:
        ...
    @property
    def busy_poll_us(self) -> float:
        ...
    @busy_poll_us.setter
    def busy_poll_us(self, arg0: typing.SupportsFloat | typing.SupportsIndex) -> None:
        ...
    @property
    def copy_batch(self) -> int:
        ...
    @copy_batch.setter
    def copy_batch(self, arg0: typing.SupportsInt | typing.SupportsIndex) -> None:
        ...
    @property
    def costs(self) -> dict[str, float]:
        ...
    @costs.setter
    def costs(self, arg1: collections.abc.Mapping[str, typing.SupportsFloat | typing.SupportsIndex]) -> None:
        ...
    @property
    def fragment_bytes(self) -> int:
        ...
    @fragment_bytes.setter
    def fragment_bytes(self, arg0: typing.SupportsInt | typing.SupportsIndex) -> None:
        ...
    @property
    def guest_burst(self) -> int:
        ...
    @guest_burst.setter
    def guest_burst(self, arg0: typing.SupportsInt | typing.SupportsIndex) -> None:
        ...
    @property
    def guest_page_bytes(self) -> int:
        ...
    @guest_page_bytes.setter
    def guest_page_bytes(self, arg0: typing.SupportsInt | typing.SupportsIndex) -> None:
        ...
    @property
    def inline_packets(self) -> int:
        ...
    @inline_packets.setter
    def inline_packets(self, arg0: typing.SupportsInt | typing.SupportsIndex) -> None:
        ...
    @property
    def invalidations_per_s(self) -> float:
        ...
    @invalidations_per_s.setter
    def invalidations_per_s(self, arg0: typing.SupportsFloat | typing.SupportsIndex) -> None:
        ...
    @property
    def iotlb_entries(self) -> int:
        ...
    @iotlb_entries.setter
    def iotlb_entries(self, arg0: typing.SupportsInt | typing.SupportsIndex) -> None:
        ...
    @property
    def message_bytes(self) -> int:
        ...
    @message_bytes.setter
    def message_bytes(self, arg0: typing.SupportsInt | typing.SupportsIndex) -> None:
        ...
    @property
    def min_buffer_bytes(self) -> int:
        ...
    @min_buffer_bytes.setter
    def min_buffer_bytes(self, arg0: typing.SupportsInt | typing.SupportsIndex) -> None:
        ...
    @property
    def napi_defer_us(self) -> float:
        ...
    @napi_defer_us.setter
    def napi_defer_us(self, arg0: typing.SupportsFloat | typing.SupportsIndex) -> None:
        ...
    @property
    def nic_pps(self) -> float:
        ...
    @nic_pps.setter
    def nic_pps(self, arg0: typing.SupportsFloat | typing.SupportsIndex) -> None:
        ...
    @property
    def offered_pps(self) -> float:
        ...
    @offered_pps.setter
    def offered_pps(self, arg0: typing.SupportsFloat | typing.SupportsIndex) -> None:
        ...
    @property
    def packet_bytes(self) -> int:
        ...
    @packet_bytes.setter
    def packet_bytes(self, arg0: typing.SupportsInt | typing.SupportsIndex) -> None:
        ...
    @property
    def packets(self) -> int:
        ...
    @packets.setter
    def packets(self, arg0: typing.SupportsInt | typing.SupportsIndex) -> None:
        ...
    @property
    def queue_pairs(self) -> int:
        ...
    @queue_pairs.setter
    def queue_pairs(self, arg0: typing.SupportsInt | typing.SupportsIndex) -> None:
        ...
    @property
    def receive_buffer_bytes(self) -> int:
        ...
    @receive_buffer_bytes.setter
    def receive_buffer_bytes(self, arg0: typing.SupportsInt | typing.SupportsIndex) -> None:
        ...
    @property
    def resizes_per_s(self) -> float:
        ...
    @resizes_per_s.setter
    def resizes_per_s(self, arg0: typing.SupportsFloat | typing.SupportsIndex) -> None:
        ...
    @property
    def ring_offset(self) -> int:
        ...
    @ring_offset.setter
    def ring_offset(self, arg0: typing.SupportsInt | typing.SupportsIndex) -> None:
        ...
    @property
    def ring_size(self) -> int:
        ...
    @ring_size.setter
    def ring_size(self, arg0: typing.SupportsInt | typing.SupportsIndex) -> None:
        ...
    @property
    def rx_buffer_bytes(self) -> int:
        ...
    @rx_buffer_bytes.setter
    def rx_buffer_bytes(self, arg0: typing.SupportsInt | typing.SupportsIndex) -> None:
        ...
    @property
    def seed(self) -> int:
        ...
    @seed.setter
    def seed(self, arg0: typing.SupportsInt | typing.SupportsIndex) -> None:
        ...
    @property
    def send_buffer_bytes(self) -> int:
        ...
    @send_buffer_bytes.setter
    def send_buffer_bytes(self, arg0: typing.SupportsInt | typing.SupportsIndex) -> None:
        ...
    @property
    def sessions(self) -> int:
        ...
    @sessions.setter
    def sessions(self, arg0: typing.SupportsInt | typing.SupportsIndex) -> None:
        ...
    @property
    def stream_ms(self) -> float:
        ...
    @stream_ms.setter
    def stream_ms(self, arg0: typing.SupportsFloat | typing.SupportsIndex) -> None:
        ...
    @property
    def swiotlb_slots(self) -> int:
        ...
    @swiotlb_slots.setter
    def swiotlb_slots(self, arg0: typing.SupportsInt | typing.SupportsIndex) -> None:
        ...
    @property
    def tap_entries(self) -> int:
        ...
    @tap_entries.setter
    def tap_entries(self, arg0: typing.SupportsInt | typing.SupportsIndex) -> None:
        ...
    @property
    def tie_seed(self) -> int:
        ...
    @tie_seed.setter
    def tie_seed(self, arg0: typing.SupportsInt | typing.SupportsIndex) -> None:
        ...
    @property
    def vcpus(self) -> int:
        ...
    @vcpus.setter
    def vcpus(self, arg0: typing.SupportsInt | typing.SupportsIndex) -> None:
        ...
    @property
    def weight_bytes(self) -> int:
        ...
    @weight_bytes.setter
    def weight_bytes(self, arg0: typing.SupportsInt | typing.SupportsIndex) -> None:
        ...
    @property
    def weight_packets(self) -> int:
        ...
    @weight_packets.setter
    def weight_packets(self, arg0: typing.SupportsInt | typing.SupportsIndex) -> None:
        ...
    @property
    def worker_cores(self) -> int:
        ...
    @worker_cores.setter
    def worker_cores(self, arg0: typing.SupportsInt | typing.SupportsIndex) -> None:
        ...
    @property
    def workers(self) -> int:
        ...
    @workers.setter
    def workers(self, arg0: typing.SupportsInt | typing.SupportsIndex) -> None:
        ...
    @property
    def xsk_ring(self) -> int:
        ...
    @xsk_ring.setter
    def xsk_ring(self, arg0: typing.SupportsInt | typing.SupportsIndex) -> None:
        ...
    @property
    def zerocopy_min_bytes(self) -> int:
        ...
    @zerocopy_min_bytes.setter
    def zerocopy_min_bytes(self, arg0: typing.SupportsInt | typing.SupportsIndex) -> None:
        ...
class LedgerRow:
    @property
    def cost(self) -> str:
        ...
    @property
    def count(self) -> int:
        ...
    @property
    def ps(self) -> int:
        ...
    @property
    def step(self) -> str:
        ...
class CoreResult:
    @property
    def busy_ps(self) -> int:
        ...
    @property
    def idle_ps(self) -> int:
        ...
    @property
    def ledger(self) -> list[LedgerRow]:
        ...
    @property
    def name(self) -> str:
        ...
class LatencyResult:
    @property
    def max_ps(self) -> int:
        ...
    @property
    def mean_ps(self) -> int:
        ...
    @property
    def p50_ps(self) -> int:
        ...
    @property
    def p90_ps(self) -> int:
        ...
    @property
    def p99_ps(self) -> int:
        ...
class BlkResult:
    @property
    def cache_hit_pages(self) -> int:
        ...
    @property
    def cache_miss_pages(self) -> int:
        ...
    @property
    def data_hash(self) -> int:
        ...
    @property
    def disk_busy_ps(self) -> int:
        ...
    @property
    def disk_merged(self) -> int:
        ...
    @property
    def disk_read_bytes(self) -> int:
        ...
    @property
    def disk_requests(self) -> int:
        ...
    @property
    def disk_write_bytes(self) -> int:
        ...
    @property
    def failed(self) -> int:
        ...
    @property
    def guest_system_ps(self) -> int:
        ...
    @property
    def merged(self) -> int:
        ...
    @property
    def requests(self) -> int:
        ...
    @property
    def wrong_bytes(self) -> int:
        ...
class DmaResult:
    @property
    def bounced_bytes(self) -> int:
        ...
    @property
    def invalidations(self) -> int:
        ...
    @property
    def iotlb_misses(self) -> int:
        ...
    @property
    def mapped_pages(self) -> int:
        ...
    @property
    def maps(self) -> int:
        ...
    @property
    def pool_slots(self) -> int:
        ...
    @property
    def tree_searches(self) -> int:
        ...
    @property
    def unmaps(self) -> int:
        ...
class RunResult:
    @property
    def alone(self) -> int:
        ...
    @property
    def batches(self) -> int:
        ...
    @property
    def blk(self) -> BlkResult:
        ...
    @property
    def bytes(self) -> int:
        ...
    @property
    def calls(self) -> int:
        ...
    @property
    def cores(self) -> list[CoreResult]:
        ...
    @property
    def dma(self) -> DmaResult:
        ...
    @property
    def dropped(self) -> int:
        ...
    @property
    def elapsed_ps(self) -> int:
        ...
    @property
    def guest_memory_hash(self) -> int:
        ...
    @property
    def inline_packets(self) -> int:
        ...
    @property
    def interrupts(self) -> int:
        ...
    @property
    def invalidations(self) -> int:
        ...
    @property
    def kicks(self) -> int:
        ...
    @property
    def latency(self) -> LatencyResult:
        ...
    @property
    def lent(self) -> int:
        ...
    @property
    def packets(self) -> int:
        ...
    @property
    def pinned_bytes(self) -> int:
        ...
    @property
    def rate_pps(self) -> float:
        ...
    @property
    def refused(self) -> int:
        ...
    @property
    def resizes(self) -> int:
        ...
    @property
    def setup_ps(self) -> int:
        ...
    @property
    def teardown_ps(self) -> int:
        ...
    @property
    def wakeups(self) -> int:
        ...
class RunControl:
    def __init__(self) -> None:
        ...
    @property
    def packets_done(self) -> int:
        """
        Packets that the run has taken so far.
        """
    @property
    def runs_done(self) -> int:
        """
        Runs that the calibration has finished so far.
        """
    @property
    def stop(self) -> bool:
        """
        Set to True to end the run early.
        """
    @stop.setter
    def stop(self, arg1: bool) -> None:
        ...
class TracePart:
    @property
    def cost(self) -> str:
        ...
    @property
    def count(self) -> int:
        ...
    @property
    def ps(self) -> int:
        ...
class TraceSlice:
    @property
    def core(self) -> int:
        ...
    @property
    def first_part(self) -> int:
        ...
    @property
    def parts(self) -> int:
        ...
    @property
    def ps(self) -> int:
        ...
    @property
    def start_ps(self) -> int:
        ...
    @property
    def step(self) -> str:
        ...
class TraceFlow:
    @property
    def at_ps(self) -> int:
        ...
    @property
    def kind(self) -> str:
        ...
    @property
    def source(self) -> int:
        ...
    @property
    def target(self) -> int:
        ...
class Trace:
    @property
    def cores(self) -> list[str]:
        ...
    @property
    def flows(self) -> list[TraceFlow]:
        ...
    @property
    def parts(self) -> list[TracePart]:
        ...
    @property
    def slices(self) -> list[TraceSlice]:
        ...
class Parameter:
    def __init__(self, name: str, low: typing.SupportsFloat | typing.SupportsIndex, best: typing.SupportsFloat | typing.SupportsIndex, high: typing.SupportsFloat | typing.SupportsIndex) -> None:
        ...
    @property
    def best(self) -> float:
        ...
    @property
    def high(self) -> float:
        ...
    @property
    def low(self) -> float:
        ...
    @property
    def name(self) -> str:
        ...
class CalibrationPoint:
    def __init__(self, id: str, scenario: Scenario, rate_pps: typing.SupportsFloat | typing.SupportsIndex, relative_sigma: typing.SupportsFloat | typing.SupportsIndex, guest_system: bool) -> None:
        ...
class Fit:
    @property
    def converged(self) -> bool:
        ...
    @property
    def iterations(self) -> int:
        ...
    @property
    def log_covariance(self) -> typing.Annotated[numpy.typing.NDArray[numpy.float64], "[m, n]"]:
        ...
    @property
    def names(self) -> list[str]:
        ...
    @property
    def values(self) -> list[float]:
        ...
class Reading:
    @property
    def cycles(self) -> float:
        ...
    @property
    def ns(self) -> float:
        ...
class Place:
    def __init__(self, first_cpu: typing.SupportsInt | typing.SupportsIndex, second_cpu: typing.SupportsInt | typing.SupportsIndex, folder: str) -> None:
        ...
    @property
    def first_cpu(self) -> int:
        ...
    @property
    def folder(self) -> str:
        ...
    @property
    def second_cpu(self) -> int:
        ...
class Meter:
    def __init__(self) -> None:
        ...
    @property
    def counts_cycles(self) -> bool:
        ...
    @property
    def why_not(self) -> str:
        ...
class Probe:
    def missing(self, place: Place) -> str:
        """
        Why it can't be measured here; empty if it can.
        """
    def readings(self, meter: Meter, place: Place, count: typing.SupportsInt | typing.SupportsIndex) -> list[Reading]:
        """
        Times of one operation, without the GIL.
        """
    @property
    def doc(self) -> str:
        ...
    @property
    def name(self) -> str:
        ...
def calibrate(points: collections.abc.Sequence[CalibrationPoint], parameters: collections.abc.Sequence[Parameter], control: RunControl) -> Fit | None:
    """
    Runs without the GIL; None if control.stop was set meanwhile.
    """
def check_scenario(scenario: Scenario) -> None:
    """
    Raises ValueError that names the field, its value and what is permitted.
    """
def copy_scenario(scenario: Scenario) -> Scenario:
    ...
def cost_rows() -> list[CostRow]:
    ...
def disk_presets() -> list[DiskPreset]:
    ...
def draw_posterior(fit: Fit, points: collections.abc.Sequence[CalibrationPoint], count: typing.SupportsInt | typing.SupportsIndex, seed: typing.SupportsInt | typing.SupportsIndex, control: RunControl) -> typing.Annotated[numpy.typing.NDArray[numpy.float64], "[m, n]"] | None:
    """
    Shape (count, len(fit.values)); runs without the GIL; None if control.stop was set meanwhile.
    """
def free_parameters(points: collections.abc.Sequence[CalibrationPoint], between_hosts: typing.SupportsFloat | typing.SupportsIndex, control: RunControl) -> list[Parameter] | None:
    """
    Runs without the GIL; None if control.stop was set meanwhile.
    """
def host_presets() -> list[HostPreset]:
    ...
def kernel_presets() -> list[KernelPreset]:
    ...
def leave_out(fit: Fit, points: collections.abc.Sequence[CalibrationPoint], kept: collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex], control: RunControl) -> Fit | None:
    """
    The fit to the points of these indices; None if control.stop was set meanwhile.
    """
def model() -> str:
    """
    SHA-256 of the sources of core and sim.
    """
def probes() -> list[Probe]:
    """
    What of this host can be measured.
    """
def run(scenario: Scenario, control: RunControl) -> RunResult | None:
    """
    Runs without the GIL; None if control.stop was set meanwhile.
    """
def run_batch(scenarios: collections.abc.Sequence[Scenario], threads: typing.SupportsInt | typing.SupportsIndex, control: RunControl) -> tuple:
    """
    Runs all of them without the GIL: (states, errors, values, measured). A state is 0 if control.stop came first, 1 if the scenario was run, 2 if it failed, and errors say why; values and measured have the shape (len(batch_columns), len(scenarios)).
    """
def run_traced(scenario: Scenario, control: RunControl) -> tuple[RunResult, Trace] | None:
    """
    Runs without the GIL and records; None if control.stop was set meanwhile.
    """
def sink_infos() -> list[SinkInfo]:
    ...
def standard_normals(count: typing.SupportsInt | typing.SupportsIndex, seed: typing.SupportsInt | typing.SupportsIndex) -> typing.Annotated[numpy.typing.NDArray[numpy.float64], "[m, 1]"]:
    """
    Shape (count,), the same on every compiler.
    """
def with_parameters(scenario: Scenario, names: collections.abc.Sequence[str], values: collections.abc.Sequence[typing.SupportsFloat | typing.SupportsIndex]) -> Scenario:
    """
    The scenario with the parameters that concern it.
    """
batch_columns: tuple = ('sent_packets', 'bytes', 'refused', 'dropped', 'elapsed_ps', 'busy_ps', 'guest_busy_ps', 'guest_idle_ps', 'worker_busy_ps', 'worker_idle_ps', 'worker_unmodelled_ps', 'latency_mean_ps', 'latency_p50_ps', 'latency_p90_ps', 'latency_p99_ps', 'latency_max_ps', 'batches', 'alone', 'lent', 'kicks', 'calls', 'wakeups', 'sent_inline', 'interrupts', 'invalidations', 'resizes', 'pinned_bytes', 'setup_ps', 'teardown_ps', 'dma_maps', 'dma_unmaps', 'dma_invalidations', 'dma_tree_searches', 'dma_mapped_pages', 'dma_iotlb_misses', 'dma_bounced_bytes', 'dma_pool_slots', 'blk_requests', 'blk_failed', 'blk_merged', 'blk_disk_requests', 'blk_disk_merged', 'blk_disk_read_bytes', 'blk_disk_write_bytes', 'blk_disk_busy_ps', 'blk_cache_hit_pages', 'blk_cache_miss_pages', 'blk_guest_system_ps', 'blk_wrong_bytes', 'blk_data_hash', 'guest_memory_hash')
compiler: str = 'GCC 12.2.0'
cost_names: tuple = ('stac_clac', 'lfence_floor', 'barrier_drain', 'access_ok', 'address_mask', 'separate_fixup', 'plain_access', 'copy_startup', 'copy_bytes', 'iov_iter', 'hardened_usercopy', 'direct_call', 'indirect_call', 'full_barrier', 'atomic_rmw', 'spin_lock', 'rcu_read', 'l2_hit', 'l3_hit', 'dram', 'transfer_ccx', 'transfer_socket', 'transfer_remote', 'remote_home', 'line_stream', 'store_miss', 'tlb', 'translate', 'page_frag', 'frame_release', 'xdp_frame', 'xdp_program', 'xdp_redirect', 'nic_doorbell', 'ring_entry', 'skb_build', 'skb_alloc', 'skb_free', 'page_alloc', 'zero_copy', 'receive_stack', 'bridge', 'macvlan', 'send_call', 'receive_call', 'bh_pair', 'syscall', 'vm_exit', 'eventfd_signal', 'irq_inject', 'context_switch', 'worker_requeue', 'busy_poll_turn', 'guest_packet', 'guest_burst', 'guest_poll', 'guest_interrupt', 'guest_receive', 'guest_mac_swap', 'generator', 'tcp_write', 'tcp_write_bytes', 'tcp_transmit', 'tcp_receive', 'tcp_ack_send', 'tcp_ack_receive', 'tcp_read', 'tcp_read_bytes', 'reader_wake', 'gup', 'vmap', 'vunmap', 'tlb_shootdown', 'unpin_dirty', 'mmu_notifier', 'rcu_grace', 'unmodelled', 'unmodelled_rx', 'guest_app', 'guest_aio', 'guest_blk_request', 'guest_blk_page', 'guest_blk_complete', 'guest_blk_page_done', 'apic_exit', 'exit_to_vmm', 'bio_submit', 'bio_complete', 'vfs_call', 'cache_read', 'cache_write', 'cache_write_call', 'ram_page', 'vmm_turn', 'vmm_request', 'vmm_segment', 'thread_handoff', 'aio_request', 'uring_request', 'irq_ioctl', 'dma_call', 'dma_sync', 'iova_cached', 'iova_tree', 'iommu_map', 'iommu_unmap', 'iommu_more', 'iotlb_invalidate', 'napi_poll', 'napi_packet', 'udp_receive', 'unmodelled_guest_rx', 'unmodelled_blk', 'udp_send', 'udp_read', 'socket_app', 'xsk_app', 'xsk_driver', 'unmodelled_guest_tx', 'iotlb_miss', 'bounce_slots', 'mmio_to_vmm', 'vhost_queue_stop', 'vhost_queue_start')
step_names: tuple = ('guest_fill', 'guest_publish', 'guest_kick', 'guest_reap', 'guest_poll', 'guest_interrupt', 'wake', 'suppress', 'avail_index', 'avail_head', 'descriptor', 'translate', 'build', 'header_copy', 'payload_copy', 'send', 'used', 'call', 'busy_poll', 'requeue', 'mapping', 'invalidate', 'packet', 'receive', 'generate', 'guest_receive', 'guest_write', 'guest_ack', 'ack', 'read', 'guest_app', 'guest_submit', 'guest_complete', 'store', 'page_cache', 'complete', 'event_loop', 'dma_map', 'dma_unmap', 'guest_wake', 'guest_reset')
version: str = '0.1.0'
