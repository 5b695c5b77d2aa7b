"""What the reference is built from: every public name says what it is, functions by example."""

import inspect
import re
from pathlib import Path

import pytest
import vringlab as vl

ROOT = Path(__file__).parents[2]
SHOWN_ELSEWHERE = {"compare", "read_host", "write_host"}
"""Their examples are those of Comparison and host_costs."""


@pytest.mark.parametrize("name", vl.__all__)
def test_every_public_name_has_a_docstring(name):
    value = getattr(vl, name)
    if not isinstance(value, (str, tuple)):
        assert inspect.getdoc(value)


def test_every_public_function_has_an_example():
    functions = [n for n in vl.__all__ if inspect.isfunction(getattr(vl, n))]
    without = {n for n in functions if ">>>" not in (inspect.getdoc(getattr(vl, n)) or "")}
    assert without == SHOWN_ELSEWHERE


@pytest.mark.parametrize("page", sorted((ROOT / "docs").glob("*.md")), ids=lambda p: p.name)
def test_links_of_pages_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8")):
        if "://" not in target:
            assert (page.parent / target).exists(), f"{page.name}: {target}"
