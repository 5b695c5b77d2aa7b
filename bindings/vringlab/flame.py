"""Folded stacks, and flame graphs drawn of them as SVG."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from xml.sax.saxutils import escape

from vringlab import _native
from vringlab.results import ResultsError

Stacks = dict[tuple[str, ...], int]
"""How much was seen with each stack, outermost frame first."""

_WIDTH, _ROW, _MARGIN, _CHARACTER = 1200.0, 17.0, 10.0, 6.6
"""Pixels."""
_NARROWEST = 0.3
"""Pixels: what would be narrower is not drawn."""


def fold(stacks: Mapping[tuple[str, ...], int]) -> str:
    """One line a stack, frames joined by semicolons, then the count.

    >>> print(fold({("worker", "send"): 7, ("guest",): 2}), end="")
    guest 2
    worker;send 7
    """
    rows = sorted((";".join(map(_frame, stack)), count) for stack, count in stacks.items())
    return "".join(f"{stack} {count}\n" for stack, count in rows)


def unfold(text: str) -> Stacks:
    """The stacks of folded lines; equal ones are added up.

    >>> unfold("a;b 1\\na;b 2\\n")
    {('a', 'b'): 3}
    """
    stacks: Stacks = {}
    for number, line in enumerate(text.splitlines(), 1):
        frames, _, count = line.rpartition(" ")
        if not frames or not count.isdigit():
            raise ResultsError(f"line {number}: {line!r:.80}: must be frames;..., a space, a count")
        stack = tuple(frames.split(";"))
        stacks[stack] = stacks.get(stack, 0) + int(count)
    return stacks


def write_folded(path: Path, stacks: Mapping[tuple[str, ...], int]) -> None:
    path.write_text(fold(stacks), encoding="utf-8")


def flame_svg(stacks: Mapping[tuple[str, ...], int], *, title: str, unit: str) -> str:
    """A flame graph: callers below, width by count, each box with its name, count and share.

    ValueError where there is nothing to draw.

    >>> svg = flame_svg({("worker", "send"): 3, ("guest",): 1}, title="simulated", unit="ps")
    >>> svg.count("<rect")
    5
    """
    total = sum(stacks.values())
    if total <= 0:
        raise ValueError(f"{title}: there is nothing to draw: no stack has a count")
    depth = max(len(stack) for stack in stacks) + 1
    height = (depth + 2) * _ROW + 2 * _MARGIN
    boxes = "\n".join(
        _box(name, count, total, left, level, height, unit)
        for name, count, left, level in _boxes("all", sorted(stacks.items()), 0, 0)
        if _pixels(count, total) >= _NARROWEST
    )
    heading = f"{escape(title)}; vringlab {_native.version}"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH:g}" height="{height:g}" '
        f'font-family="monospace" font-size="11">\n'
        f'<rect width="100%" height="100%" fill="#ffffff"/>\n'
        f'<text x="{_MARGIN:g}" y="{_MARGIN + 11:g}" font-size="14">{heading}</text>\n'
        f"{boxes}\n</svg>\n"
    )


def _boxes(
    name: str, stacks: Sequence[tuple[tuple[str, ...], int]], left: int, level: int
) -> Iterator[tuple[str, int, int, int]]:
    """Name, count, count to its left and level of a frame, then of all that it called."""
    yield name, sum(count for _, count in stacks), left, level
    called: dict[str, list[tuple[tuple[str, ...], int]]] = {}
    for stack, count in stacks:
        if stack:
            called.setdefault(stack[0], []).append((stack[1:], count))
    for callee, below in called.items():
        yield from _boxes(callee, below, left, level + 1)
        left += sum(count for _, count in below)


def _box(name: str, count: int, total: int, left: int, level: int, height: float, unit: str) -> str:
    x, width = _MARGIN + _pixels(left, total), _pixels(count, total)
    y = height - _MARGIN - (level + 1) * _ROW
    room = int((width - 6) / _CHARACTER)
    shown = name if len(name) <= room else f"{name[: room - 2]}.." if room > 3 else ""
    told = f"{name}: {count} {unit}, {100 * count / total:.2f} %"
    return (
        f"<g><title>{escape(_printable(told))}</title>"
        f'<rect x="{x:.2f}" y="{y:g}" width="{width:.2f}" height="{_ROW - 1:g}" '
        f'fill="{_colour(name)}" rx="1"/>'
        f'<text x="{x + 3:.2f}" y="{y + 12:g}">{escape(_printable(shown))}</text></g>'
    )


def _pixels(count: int, total: int) -> float:
    return count / total * (_WIDTH - 2 * _MARGIN)


def _colour(name: str) -> str:
    """A warm one, always the same for a name."""
    spread = sum((i + 1) * ord(c) for i, c in enumerate(name))
    return f"rgb({205 + spread % 50},{90 + spread // 50 % 130},{40 + spread // 7 % 40})"


def _frame(name: str) -> str:
    """A frame as folded lines can have it."""
    return " ".join(name.replace(";", ":").split()) or "?"


def _printable(text: str) -> str:
    return "".join(c if c.isprintable() else "?" for c in text)
