"""Measures what operations cost on this host.

Most cost rows are of kernels and hardware that this program can't reach from user space; those that
it can reach are measured here, so that a prediction for this machine rests on them.
"""

import os
import platform
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median, quantiles

from vringlab import _native
from vringlab._fields import as_int
from vringlab.host_file import HostFile, MeasuredRow

_PASSES = 3
"""Over all probes, so that one disturbance does not hit all readings of one."""
_FEWEST, _MOST = 2, 10_000
_SYS = Path("/sys/devices/system/cpu")
_PAGES = 15
"""By which 64 KiB are more than 4 KiB."""

Times = Mapping[str, Sequence[float]]
"""Nanoseconds of one operation, by probe, in the order they were read."""


@dataclass(frozen=True, slots=True)
class Derived:
    """A row of the file: what it is made of, and the cost rows that it is a value of."""

    name: str
    needs: tuple[str, ...]
    """Probes."""
    unit: str
    scale: float
    """From nanoseconds, or cycles where the unit has them, to the unit."""
    value: Callable[..., float]
    """Of one reading of each probe."""
    costs: tuple[str, ...]
    how: str


def measure_host(*, repetitions: int = 51, folder: Path | str | None = None) -> HostFile:
    """Measures this host, in about a second.

    repetitions: readings of each operation, of which 5 %, median and 95 % are kept. folder: where a
    file of 1 MiB may lie for the page cache, by default the one for temporary files.

    >>> host = measure_host(repetitions=3)
    >>> all(0 < row.low <= row.best <= row.high for row in host.rows)
    True
    """
    count = as_int("repetitions", repetitions)
    if not _FEWEST <= count <= _MOST:
        raise ValueError(f"repetitions = {count}: must be between {_FEWEST} and {_MOST}")
    where = str(folder or tempfile.gettempdir())
    if not Path(where).is_dir():
        raise FileNotFoundError(f"{where}: there is no such folder")
    place, meter = _place(where), _native.Meter()
    ns, cycles, missing = _measured(meter, place, count)
    rows, not_derived = derive(ns, cycles, _derived(place))
    return HostFile(
        cpu=_cpu_info("model name") or platform.machine(),
        kernel=platform.release(),
        virtual="hypervisor" in _cpu_info("flags").split(),
        cycles=_cycles_from(meter),
        rows=tuple(rows),
        missing=missing | not_derived,
    )


def derive(
    ns: Times, cycles: Times, wanted: Sequence[Derived]
) -> tuple[list[MeasuredRow], dict[str, str]]:
    """The rows, and those that their readings give no value of. `cycles` may be empty: then they
    are nanoseconds at the clock that the probe "cycle" shows."""
    rows, missing = [], {}
    ghz = 1 / median(ns["cycle"])
    for row in wanted:
        if not all(need in ns for need in row.needs):
            continue
        counted = row.unit.startswith("cycles")
        source = cycles if counted and all(need in cycles for need in row.needs) else ns
        scale = row.scale * (ghz if counted and source is ns else 1)
        # Quantile by quantile: what disturbs one probe disturbs the other as well.
        readings = zip(*(sorted(source[need]) for need in row.needs), strict=True)
        values = [scale * row.value(*reading) for reading in readings]
        low, best, high = spread(values)
        if low > 0:
            rows.append(
                MeasuredRow(
                    name=row.name,
                    costs=row.costs,
                    unit=row.unit,
                    low=low,
                    best=best,
                    high=high,
                    readings=len(values),
                    how=row.how,
                )
            )
        else:
            missing[row.name] = "no more than the noise of what it is the difference of"
    return rows, missing


def spread(values: Sequence[float]) -> tuple[float, float, float]:
    """5 %, median and 95 % of them.

    >>> spread([3.0, 1.0, 2.0])
    (1.1, 2.0, 2.9)
    """
    cuts = quantiles(values, n=20, method="inclusive")
    return _rounded(cuts[0]), _rounded(median(values)), _rounded(cuts[-1])


def _rounded(value: float) -> float:
    return float(f"{value:.5g}")


# --- readings -------------------------------------------------------------------------------------


def _place(folder: str) -> _native.Place:
    """On the first processor that we may use, and the last one."""
    cpus = sorted(os.sched_getaffinity(0))
    return _native.Place(cpus[0], cpus[-1], folder)


def _measured(
    meter: _native.Meter, place: _native.Place, count: int
) -> tuple[dict[str, list[float]], dict[str, list[float]], dict[str, str]]:
    """Nanoseconds and cycles by probe, and why others have none of either."""
    probes = _native.probes()
    missing = {p.name: p.missing(place) for p in probes if p.missing(place)}
    able = [p for p in probes if p.name not in missing]
    ns: dict[str, list[float]] = {p.name: [] for p in able}
    cycles: dict[str, list[float]] = {p.name: [] for p in able}
    for number in range(_PASSES):
        part = (count + number) // _PASSES
        for probe in able if part else ():
            readings = probe.readings(meter, place, part)
            ns[probe.name] += [reading.ns for reading in readings]
            cycles[probe.name] += [reading.cycles for reading in readings]
    # Of two threads, of the kernel, or where nothing counts them, there are none.
    return ns, {name: values for name, values in cycles.items() if all(values)}, missing


def _cycles_from(meter: _native.Meter) -> str:
    if meter.counts_cycles:
        return "counted by perf, in user space"
    return f"nanoseconds at the clock's rate, as perf counts no cycles here: {meter.why_not}"


# --- what rows are made of ------------------------------------------------------------------------


def _derived(place: _native.Place) -> list[Derived]:
    docs = {probe.name: probe.doc for probe in _native.probes()}

    def one(name: str, unit: str, costs: Sequence[str] = (), scale: float = 1.0) -> Derived:
        return Derived(name, (name,), unit, scale, lambda x: x, tuple(costs), docs[name])

    sizes = [name for name in docs if name.startswith(("memcpy.", "rep_movsb."))]
    kind = "kpti_pcid" if _has_kpti() else "no_kpti"
    return [
        Derived("clock", ("cycle",), "GHz", 1, lambda ns: 1 / ns, ("clock_ghz",), docs["cycle"]),
        one("lfence", "cycles", ("lfence_floor.intel", "lfence_floor.zen")),
        one("mfence", "cycles", ("mfence",)),
        one("lock_add", "cycles", ("smp_mb",)),
        one("atomic_add", "cycles", ("atomic_rmw",)),
        one("direct_call", "cycles", ("direct_call",)),
        one("indirect_call", "cycles", ("indirect_call",)),
        one("wrpkru", "cycles", ("wrpkru",)),
        one("system_call", "cycles", (f"syscall.{kind}",)),
        one("line_transfer", "ns", _line_rows(place)),
        *(one(name, "ns") for name in sizes),
        *_copy_rows(),
        one("eventfd_wakeup", "ns"),
        *_kernel_rows(),
    ]


def _copy_rows() -> list[Derived]:
    slope = "rep_movsb.16384", "rep_movsb.4096"
    startup = "rep_movs_startup.erms", "rep_movs_startup.fsrm"
    return [
        Derived(
            "copy_per_byte",
            slope,
            "cycles/B",
            1 / 12288,
            lambda large, small: large - small,
            ("copy_per_byte.l1",),
            "rep movsb of 16 KiB and of 4 KiB: what a byte more takes, in L1",
        ),
        Derived(
            "rep_movs_startup",
            ("rep_movsb.64", *slope),
            "cycles",
            1.0,
            lambda short, large, small: short - 64 * (large - small) / 12288,
            startup,
            "rep movsb of 64 bytes, without what its bytes take",
        ),
    ]


def _kernel_rows() -> list[Derived]:
    read = "page_cache_read.65536", "page_cache_read.4096"
    write = "page_cache_write.65536", "page_cache_write.4096"
    return [
        Derived(
            "eventfd_signal",
            ("eventfd_write", "system_call"),
            "ns",
            1.0,
            lambda write, call: write - call,
            ("eventfd_signal",),
            "write to an eventfd that nobody waits for, without the system call; finding the file "
            "is in it",
        ),
        Derived(
            "wakeup",
            ("eventfd_wakeup", "eventfd_write"),
            "us",
            1e-3,
            lambda wakeup, write: wakeup - write,
            ("wakeup.cpu_awake", "wakeup.cpu_idle"),
            "from an eventfd written until its reader on another processor runs; the switch to it, "
            "which ends it in the model too, is in it",
        ),
        Derived(
            "page_cache_read",
            read,
            "ns",
            1 / _PAGES,
            lambda large, small: large - small,
            ("page_cache_read_per_page",),
            "reads of 64 KiB and of 4 KiB: what a page more takes",
        ),
        Derived(
            "page_cache_write",
            write,
            "ns",
            1 / _PAGES,
            lambda large, small: large - small,
            ("page_cache_write_per_page",),
            "writes of 64 KiB and of 4 KiB: what a page more takes",
        ),
        Derived(
            "page_cache_write_call",
            write,
            "ns",
            1.0,
            lambda large, small: small - (large - small) / _PAGES,
            ("page_cache_write_per_call",),
            "a write of 4 KiB, without what its page takes",
        ),
    ]


def _line_rows(place: _native.Place) -> tuple[str, ...]:
    """The rows that a line between these two processors is a value of."""
    first, second = place.first_cpu, place.second_cpu
    package = "topology/physical_package_id"
    if _of_cpu(first, package) != _of_cpu(second, package):
        return ("line_transfer.remote_socket",)
    shared = _of_cpu(first, "cache/index3/shared_cpu_list")
    amd = "AuthenticAMD" in _cpu_info("vendor_id")
    if amd and shared and shared == _of_cpu(second, "cache/index3/shared_cpu_list"):
        return ("line_transfer.same_ccx",)
    if amd:
        return ("line_transfer.cross_ccx",)
    return ("line_transfer.same_socket", "line_transfer.same_socket.sandy_bridge")


def _of_cpu(cpu: int, what: str) -> str:
    return _text(_SYS / f"cpu{cpu}" / what)


def _has_kpti() -> bool:
    return "PTI" in _text(_SYS / "vulnerabilities" / "meltdown")


def _cpu_info(field: str) -> str:
    for line in _text(Path("/proc/cpuinfo")).splitlines():
        name, _, value = line.partition(":")
        if name.strip() == field:
            return value.strip()
    return ""


def _text(path: Path) -> str:
    try:
        return path.read_text().strip()
    except OSError:
        return ""
