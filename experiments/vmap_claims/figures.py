"""A picture where it says more than the table. Rows are dicts of the claim's table."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter
from vringlab import version
from vringlab.experiments.vmap_claims.claim_g import PLACES

Rows = Sequence[dict[str, Any]]
STYLE = {
    "axes.axisbelow": True,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "figure.constrained_layout.use": True,
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "grid.color": "#e4e4e4",
    "legend.frameon": False,
}
DARK, LIGHT, GREY = "#0b4f8a", "#9cc3e0", "#808080"
BAR = 0.38
PLAIN = FuncFormatter(lambda value, _: f"{value:.6g}")
AT_KICK = {0: ("none", GREY), 1: ("1", LIGHT), 4: ("4; 16 and 64 are the same", DARK)}


def plans(rows: Rows, path: Path) -> None:
    """c: what each plan gains, for both layouts of a chain."""
    figure, (axes,) = _figure("Gain over user access, by access plan", 1, (7.4, 5.2))
    for i, (chain, own) in enumerate(_groups(rows, "chain")):
        _bars(axes, i, _column(own, "gain_percent"), chain, "{:+.1f}")
        axes.set_yticks(range(len(own)), _column(own, "plan"))
    axes.axvline(0, color="black", lw=0.8)
    axes.margins(x=0.08)
    axes.set_xlabel("gain, % of packets a second")
    axes.legend(title="chain of a packet", loc="upper right")
    _save(figure, path)


def kick(rows: Rows, path: Path) -> None:
    """f: latency, rate and the guest's share of the work by offered load."""
    title = "Packets served at the kick: a virtual machine sends one by one, Poisson arrivals"
    figure, (latency, rate, share) = _figure(title, 3, (10.5, 3.8))
    for n, (label, colour) in AT_KICK.items():
        own = [r for r in rows if r["inline_packets"] == n and r["arrival"] == "poisson"]
        loads = _column(own, "offered_pps")
        style: dict[str, Any] = {"color": colour, "marker": "o", "ms": 3, "lw": 1.3}
        latency.plot(loads, _column(own, "latency_p50_us"), **style)
        latency.plot(loads, _column(own, "latency_p99_us"), color=colour, lw=1, ls=":")
        reached = [100 * r["rate_pps"] / r["offered_pps"] for r in own]
        rate.plot(loads, reached, **style)
        share.plot(loads, _column(own, "guest_device_percent"), **style, label=label)
    _label(latency, "latency, µs (line: median; dots: 99 %)")
    _label(rate, "rate reached, % of offered")
    _label(share, "guest core in device work, % of time")
    latency.set_yscale("log")
    latency.yaxis.set_major_formatter(PLAIN)
    rate.set_ylim(0, 105)
    share.legend(title="packets at the kick", loc="upper left")
    _save(figure, path)


def pinned(rows: Rows, path: Path) -> None:
    """g: bytes pinned by ring size, and what a ring that can't move costs."""
    figure, (left, right) = _figure("What pinning the ring costs", 2, (10, 3.8))
    mapped = [r for r in rows if r["access"] == "mapped" and r["place"] == "together"]
    small = [r for r in mapped if r["guest_page_bytes"] == 4096]
    for (offset, own), style in zip(_groups(small, "ring_offset"), ("-", ":"), strict=True):
        label = f"pinned, ring begins {offset} bytes into a page"
        _kib(left, own, "pinned_bytes", label, color=DARK, ls=style, marker="o", ms=3)
    _kib(left, own, "frames_bytes", "frame buffers, not pinned", color=GREY, ls="--")
    left.set_xscale("log", base=2)
    left.set_yscale("log", base=4)
    left.xaxis.set_major_formatter(PLAIN)
    left.yaxis.set_major_formatter(PLAIN)
    left.set_xlabel("ring size, entries")
    left.set_ylabel("KiB")
    left.legend(loc="lower center", bbox_to_anchor=(0.5, 1))
    for i, (access, label) in enumerate((("user", "user access"), ("mapped", "mapped"))):
        _bars(right, i, [_rate(rows, access, place) for place in PLACES], label, "{:.2f}")
    right.set_yticks(range(len(PLACES)), list(PLACES))
    right.margins(x=0.12)
    right.set_xlabel("million packets a second, ring of 256")
    right.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncols=2)
    _save(figure, path)


def guards(rows: Rows, path: Path) -> None:
    """h: gain by guard, SMAP on and off."""
    figure, (axes,) = _figure("Gain of a mapping over user access, by guard", 1, (7.4, 3.8))
    still = [row for row in rows if row["invalidations_per_s"] == 0]
    for i, (kernel, own) in enumerate(_groups(still, "kernel")):
        _bars(axes, i, _column(own, "gain_percent"), kernel, "{:+.1f}")
        axes.set_yticks(range(len(own)), _column(own, "guard"))
    axes.axvline(0, color="black", lw=0.8)
    axes.margins(x=0.1)
    axes.set_xlabel("gain, % of packets a second")
    axes.legend(loc="lower right")
    _save(figure, path)


_DRAWN: dict[str, Callable[[Rows, Path], None]] = {
    "c": plans,
    "f": kick,
    "g": pinned,
    "h": guards,
}
FIGURES = frozenset(_DRAWN)
"""The claims that have one."""


def draw(claim: str, rows: Rows, path: Path) -> None:
    with matplotlib.rc_context(STYLE):
        _DRAWN[claim](rows, path)


def _figure(title: str, columns: int, size: tuple[float, float]) -> tuple[Figure, list[Axes]]:
    figure = Figure(figsize=size)
    axes = list(figure.subplots(1, columns, squeeze=False)[0])
    figure.suptitle(title, fontsize=10)
    figure.supxlabel(f"simulated, vringlab {version}", x=1, ha="right", fontsize=7, color=GREY)
    return figure, axes


def _save(figure: Figure, path: Path) -> None:
    figure.savefig(path, dpi=150, metadata={"Software": None})


def _column(rows: Rows, name: str) -> list[Any]:
    return [row[name] for row in rows]


def _groups(rows: Rows, name: str) -> Iterable[tuple[Any, Rows]]:
    for value in dict.fromkeys(_column(rows, name)):
        yield value, [row for row in rows if row[name] == value]


def _bars(axes: Axes, which: int, values: Sequence[float], label: str, form: str) -> None:
    """One of two bars a line, from top to bottom, each with its value beside it."""
    at = [line + BAR * (which - 0.5) for line in range(len(values))]
    axes.barh(at, values, BAR, color=(DARK, LIGHT)[which], label=label)
    for value, y in zip(values, at, strict=True):
        text = form.format(value).replace("-", "\N{MINUS SIGN}")
        side, gap = ("left", 3) if value >= 0 else ("right", -3)
        beside: dict[str, Any] = {"textcoords": "offset points", "va": "center", "fontsize": 7}
        axes.annotate(text, (value, y), (gap, 0), ha=side, **beside)
    axes.set_ylim(len(values) - 0.4, -0.6)
    axes.grid(axis="x")


def _label(axes: Axes, label: str) -> None:
    axes.set_xscale("log")
    axes.set_xlabel("offered packets a second")
    axes.set_ylabel(label)
    axes.grid()


def _kib(axes: Axes, rows: Rows, column: str, label: str, **style: Any) -> None:
    kib = [row[column] / 1024 for row in rows]
    axes.plot(_column(rows, "ring_size"), kib, label=label, lw=1.3, **style)
    axes.grid()


def _rate(rows: Rows, access: str, place: str) -> float:
    """Of the ring of 256 at the start of a page, guest in huge pages."""
    wanted = {"ring_size": 256, "ring_offset": 0, "guest_page_bytes": 2097152}
    wanted |= {"access": access, "place": place}
    (row,) = [r for r in rows if wanted.items() <= r.items()]
    return float(row["mpps"])
