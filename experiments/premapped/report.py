"""report.md: the rows, and what is missing."""

from collections.abc import Iterable, Sequence

from vringlab import version
from vringlab.validation import Row

HEAD = f"""# One mapping for a fragment instead of each receive buffer

Every number here is simulated by vringlab {version}, unless it is called published. The two rows
with a mapping for each buffer were fitted; the others are predicted, and a miss stays a miss.

"""
LIMIT = 10
"""Percent of error beyond which a row is called a miss."""
MISSING = """
With one mapping for 21 buffers a strict IOMMU is hardly slower than a lazy one here. The published
machine was slower by 445 ns a packet, so it went on waiting for its IOTLB, for nearly every second
packet. What else it unmapped is not published; answers that it sent, each mapped by itself, would
be such a thing, and sending while receiving is not simulated. IOTLB misses of the device are: they
cost the worker, which is not the bound.

Published as well and without a scenario yet: AF_XDP through a premapped queue.
"""


def report(rows: Sequence[Row]) -> str:
    """The table, its misses and the mechanism that is missing."""
    return "".join([HEAD, *_table(rows), MISSING])


def _table(rows: Sequence[Row]) -> Iterable[str]:
    yield "| row | published | simulated | 90 % | error | |\n|---|---|---|---|---|---|\n"
    for row in rows:
        p = row.published
        use = "fitted" if p.use == "calibrate" else "predicted"
        cells = f"{p.value:.0f} | {row.predicted:.0f} | {row.low:.0f} to {row.high:.0f}"
        yield f"| {p.id}, {p.unit} | {cells} | {row.error_percent:+.1f} % | {use} |\n"
    misses = sum(abs(row.error_percent) > LIMIT for row in rows)
    yield f"\n{misses} of {len(rows)} rows are further than {LIMIT} % from what was published.\n"
