"""The list of mutations fits the sources: each applies in exactly one place."""

import tomllib
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
MUTANTS: list[dict[str, Any]] = tomllib.loads((ROOT / "tests/mutation/mutations.toml").read_text())[
    "mutant"
]


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant["name"])
def test_applies_in_one_place(mutant: dict[str, Any]) -> None:
    assert (ROOT / mutant["file"]).read_text().count(mutant["old"]) == 1
    assert mutant["old"] != mutant["new"]
    assert mutant["why"]
    assert (ROOT / mutant["test"]).is_file()


def test_names_are_distinct() -> None:
    names = [mutant["name"] for mutant in MUTANTS]
    assert len(set(names)) == len(names) >= 20
