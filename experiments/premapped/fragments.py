"""The rows with one mapping a fragment, had the published driver's fragments been smaller.

It asks for 32 KiB. Linux's allocator of fragments takes a single page instead where no eight free
ones lie side by side, or where net.core.high_order_alloc_disable is set.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from vringlab.experiments.premapped.base import RATES, Run
from vringlab.results import write_table

FRAGMENT_BYTES = (4096, 8192, 16384, 32768)
MERGED = ("dmamerge.lazy.after", "dmamerge.strict.after")
COLUMNS = ("fragment_bytes", "row", "published_pps", "pps")


def fragment_variants(published: Mapping[str, float], run: Run) -> list[tuple[object, ...]]:
    """Rows of COLUMNS, with the same fitted costs; `published` by the id of the row."""
    asked = [(size, name) for size in FRAGMENT_BYTES for name in MERGED]
    results = run(RATES[name].replace(fragment_bytes=size) for size, name in asked)
    return [
        (size, name, published[name], result.rate_pps)
        for (size, name), result in zip(asked, results, strict=True)
    ]


def write_fragments(path: Path, rows: Iterable[Sequence[object]]) -> None:
    """Packets a second."""
    write_table(path, COLUMNS, rows)
