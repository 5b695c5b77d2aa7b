"""report.md: the answers in words, each computed from the tables beside it."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain

from vringlab import version
from vringlab.experiments.xdp_batch import netperf, netperf_report
from vringlab.experiments.xdp_batch.netperf import Answer
from vringlab.experiments.xdp_batch.netperf_tables import Score
from vringlab.experiments.xdp_batch.sweep import Curve, Fit
from vringlab.validation import Row

HEAD = f"""# What handing up to 64 XDP buffers at once to the socket gains

Every number here is simulated by vringlab {version}, unless it is called published. The costs were
fitted to the rows marked `calibrate`; the others are predicted, and a miss stays a miss.
"""
LARGE = 5
"""An error of more percent of a rate, or points of a gain, is explained in the report."""
OWN_PATH = (
    "one packet a call goes through the socket's own path (iterator, device reference, header "
    "parsing, accounting of socket buffers), whose cost no calibrated row tells apart, so too "
    "little is saved"
)
RECEIVE = (
    "of receive only 64 at once is fitted, so nothing tells what a batch pays once (b below) from "
    "what a frame pays; and published rates gain more with each doubling of the batch than calls "
    "saved explain, for which no mechanism is known"
)
WHY = {
    "xdpbatch.drop": OWN_PATH,
    "xdpbatch.redirect": (
        "the doorbell of a redirect is a guess (recalled, no source at hand), which one packet a "
        "call pays for each packet"
    ),
    "xdpbatch.macvtap": OWN_PATH,
    "batchsweep.tx": "one point below both its neighbours, which are met",
    "batchsweep.rx": RECEIVE,
}
"""The mechanism that is missing or not known, by the beginning of a row's name."""


def report(
    rows: Sequence[Row],
    curves: Iterable[Curve],
    answers: Sequence[Answer],
    scores: Iterable[Score],
    explored: Mapping[str, tuple[str, str]],
) -> str:
    """`explored`: title and answer by the name of the exploration's table and figure."""
    streams = netperf_report.section(answers, scores)
    packets = [row for row in rows if not row.published.id.startswith(netperf.ROWS)]
    parts = (_published(packets), _curves(curves), streams, _explored(explored))
    return "".join([HEAD, *chain.from_iterable(parts)])


def is_miss(row: Row) -> bool:
    """Outside the interval, or far from what was published."""
    return _outside(row) or abs(_error(row)) > LARGE


def _published(rows: Sequence[Row]) -> Iterable[str]:
    yield "\n## Published rows of packets\n\n| row | published | simulated | 90 % | error | |\n"
    yield "|---|---|---|---|---|---|\n"
    yield from map(_line, rows)
    misses = [row for row in rows if is_miss(row)]
    yield f"\nOf {len(rows)} published values {sum(map(_outside, rows))} are outside the simulated "
    yield f"interval. {len(misses)} are outside or further than {LARGE} from the simulated value "
    yield "(percent of a rate, points of a gain):\n\n"
    yield from map(_miss, misses)
    yield "\n![simulated: time a packet from a call a packet to 64 a call](waterfall.png)\n"


def _line(row: Row) -> str:
    p = row.published
    cells = (f"{v:.4g}" for v in (_shown(p.value, p.unit), _shown(row.predicted, p.unit)))
    interval = f"{_shown(row.low, p.unit):.4g} to {_shown(row.high, p.unit):.4g}"
    use = "fitted" if p.use == "calibrate" else "predicted"
    unit = "%" if p.unit.startswith("%") else "Mpps"
    return f"| {p.id}, {unit} | {' | '.join(cells)} | {interval} | {_signed(row)} | {use} |\n"


def _miss(row: Row) -> str:
    where = "outside the interval" if _outside(row) else "inside the interval"
    why = [text for name, text in WHY.items() if row.published.id.startswith(name)]
    note = f" (note of the published row: {row.published.note})" if row.published.note else ""
    reason = why[0] if why else "no mechanism is known"
    return f"- {row.published.id}, {_signed(row)}, {where}: {reason}{note}.\n"


def _outside(row: Row) -> bool:
    return not row.low <= row.published.value <= row.high


def _curves(curves: Iterable[Curve]) -> Iterable[str]:
    yield "\n## Time a packet over the batch: a + b / batch\n\n"
    yield "| | a, ns a packet | b, ns a call | farthest point |\n|---|---|---|---|\n"
    shown = list(curves)
    for curve in shown:
        for name, fit in (("published", curve.published), ("simulated", curve.predicted)):
            worst = f"{fit.worst_percent:.1f} %"
            yield f"| {curve.workload}, {name} | {fit.a_ns:.0f} | {fit.b_ns:.0f} | {worst} |\n"
    yield f"\n{' '.join(map(_curve, shown))}\n\n![simulated: time a packet](sweep.png)\n"


def _curve(curve: Curve) -> str:
    return (
        f"{curve.workload}: from one frame a call to 64, the curve of the published rates says "
        f"{_gain(curve.published):.0f} %, that of the simulated ones {_gain(curve.predicted):.0f} "
        f"%; from 64 to 512, {_gain(curve.published, 64, 512):.1f} % and "
        f"{_gain(curve.predicted, 64, 512):.1f} %."
    )


def _explored(explored: Mapping[str, tuple[str, str]]) -> Iterable[str]:
    for name, (title, answer) in explored.items():
        yield f"\n## {title}\n\n{answer}\n\n![simulated]({name}.png)\n\nAll: `{name}.csv`.\n"


def _gain(fit: Fit, start: int = 1, end: int = 64) -> float:
    return 100 * (fit.ns(start) / fit.ns(end) - 1)


def _shown(value: float, unit: str) -> float:
    """Rates in millions."""
    return value / 1e6 if unit == "pps" else value


def _error(row: Row) -> float:
    in_points = row.published.unit.startswith("%")
    return row.predicted - row.published.value if in_points else row.error_percent


def _signed(row: Row) -> str:
    return f"{_error(row):+.1f} " + ("points" if row.published.unit.startswith("%") else "%")
