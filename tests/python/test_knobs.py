"""bindings/SCENARIO.md names every field of a scenario and of a plan, with its default."""

import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import vringlab as vl

ROOT = Path(__file__).parents[2]


def test_the_page_is_fresh():
    subprocess.run([sys.executable, ROOT / "tools" / "knobs.py", "--check"], check=True)


def test_the_page_has_every_field():
    text = (ROOT / "bindings" / "SCENARIO.md").read_text(encoding="utf-8")
    for field in (*fields(vl.Scenario), *fields(vl.AccessPlan)):
        assert f"| `{field.name}` | " in text, field.name
