#!/usr/bin/env python3
"""tools/knobs.py [--check]: writes bindings/SCENARIO.md, or says whether it is stale.

The page has every field of Scenario, AccessPlan and Blk with default and meaning, from the source.
"""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "bindings" / "vringlab"
PAGE = ROOT / "bindings" / "SCENARIO.md"
CLASSES = (("scenario.py", "Scenario"), ("access_plan.py", "AccessPlan"), ("blk.py", "Blk"))
HEAD = """# Every knob

What `vringlab.Scenario(...)` takes, and the access plan and the disk inside it: field, default,
meaning, unit. Costs are fields of `costs`, by row: `vringlab costs` lists them. Written by
`tools/knobs.py`.
"""


def fields(file: str, name: str) -> Iterator[tuple[str, str, str]]:
    """Name, default and meaning of each field of a dataclass."""
    tree = ast.parse((PACKAGE / file).read_text(encoding="utf-8"))
    [found] = [n for n in tree.body if isinstance(n, ast.ClassDef) and n.name == name]
    for field, text in zip(found.body, found.body[1:], strict=False):
        if not isinstance(field, ast.AnnAssign) or field.value is None:
            continue
        if not (isinstance(text, ast.Expr) and isinstance(text.value, ast.Constant)):
            raise SystemExit(f"{file}: {ast.unparse(field.target)} has no meaning")
        meaning = " ".join(str(text.value.value).split())
        yield ast.unparse(field.target), ast.unparse(field.value), meaning


def page() -> str:
    parts = [HEAD]
    for file, name in CLASSES:
        parts.append(f"\n## {name}\n\n| field | default | meaning |\n|---|---|---|\n")
        parts += [f"| `{f}` | `{d}` | {m} |\n" for f, d, m in fields(file, name)]
    return "".join(parts)


def main() -> None:
    if sys.argv[1:] != ["--check"]:
        PAGE.write_text(page(), encoding="utf-8")
    elif not PAGE.exists() or PAGE.read_text(encoding="utf-8") != page():
        raise SystemExit("stale page: run tools/knobs.py")


if __name__ == "__main__":
    main()
