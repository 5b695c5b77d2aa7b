"""Each notebook runs, is paired with its script, opens with figures, and shows today's results."""

import json
import shutil
import subprocess
import sys
from base64 import b64decode
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jupytext
import pytest

ROOT = Path(__file__).parents[2]
NOTEBOOKS = ROOT / "notebooks"
NAMES = sorted(path.stem for path in NOTEBOOKS.glob("*.py"))
SEVEN = {
    *("first_steps", "life_of_a_packet", "your_own_question"),
    *("vmap", "batching", "premapped", "block"),
}
MOST_BYTES = 3_000_000

Cell = dict[str, Any]


def read(folder: Path, name: str) -> list[Cell]:
    return list(json.loads((folder / f"{name}.ipynb").read_text())["cells"])


def outputs(cells: list[Cell]) -> Iterator[Cell]:
    for cell in cells:
        yield from cell.get("outputs", ())


def printed(cells: list[Cell]) -> list[str]:
    """What a reader sees as text."""
    shown = (output.get("text") or output["data"]["text/plain"] for output in outputs(cells))
    return ["".join(lines) for lines in shown]


def figures(cells: list[Cell]) -> list[bytes]:
    images = (output.get("data", {}).get("image/png") for output in outputs(cells))
    return [b64decode(image) for image in images if image]


def test_there_are_the_seven() -> None:
    assert set(NAMES) == SEVEN
    assert sorted(path.stem for path in NOTEBOOKS.glob("*.ipynb")) == NAMES
    assert all(f"({name}.ipynb)" in (NOTEBOOKS / "README.md").read_text() for name in NAMES)


def test_they_are_small() -> None:
    assert sum(path.stat().st_size for path in NOTEBOOKS.glob("*.ipynb")) < MOST_BYTES


@pytest.mark.parametrize("name", NAMES)
def test_script_and_notebook_are_a_pair(name: str) -> None:
    script = jupytext.read(NOTEBOOKS / f"{name}.py", fmt="py:percent")
    paired = [(cell["cell_type"], "".join(cell["source"])) for cell in read(NOTEBOOKS, name)]
    assert paired == [(cell.cell_type, cell.source) for cell in script.cells]


@pytest.mark.parametrize("name", NAMES)
def test_it_opens_with_figures(name: str) -> None:
    images = figures(read(NOTEBOOKS, name))
    assert images
    assert all(image.startswith(b"\x89PNG") for image in images)


@pytest.mark.parametrize("name", NAMES)
def test_nothing_of_the_machine_or_the_moment_is_in_it(name: str) -> None:
    cells = read(NOTEBOOKS, name)
    for output in outputs(cells):
        output.get("data", {}).pop("image/png", None)
    text = json.dumps(cells)
    for trace in (str(ROOT), sys.prefix, "/home/", "/tmp/", "ipykernel", "vnd.jupyter"):
        assert trace not in text
    assert {cell["id"] for cell in cells} == {f"{name}-{i}" for i in range(len(cells))}
    assert all(cell.get("execution_count") is None and not cell["metadata"] for cell in cells)


@pytest.mark.parametrize("name", NAMES)
def test_it_says_that_it_is_simulated(name: str) -> None:
    prose = [cell for cell in read(NOTEBOOKS, name) if cell["cell_type"] == "markdown"]
    assert "**simulated**" in "".join(prose[0]["source"])


@pytest.mark.parametrize("name", NAMES)
def test_it_runs_and_shows_the_same(name: str, tmp_path: Path) -> None:
    for path in (NOTEBOOKS / f"{name}.py", *(ROOT / "results").glob("*/*.csv")):
        copy = tmp_path / path.relative_to(ROOT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, copy)
    command = [sys.executable, ROOT / "tools" / "notebooks.py", tmp_path, name]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    mine, theirs = read(NOTEBOOKS, name), read(tmp_path / "notebooks", name)
    assert printed(mine) == printed(theirs), "run tools/notebooks.py and commit what it writes"
    assert len(figures(mine)) == len(figures(theirs))


BAD = {
    "no such table": "raise ValueError('no such table')",
    "wrote to stderr": "import sys\nprint('careful', file=sys.stderr)",
}


@pytest.mark.parametrize("message", BAD)
def test_what_is_wrong_with_a_notebook_is_said(message: str, tmp_path: Path) -> None:
    (tmp_path / "notebooks").mkdir()
    (tmp_path / "notebooks" / "bad.py").write_text(f"# %%\n{BAD[message]}\n")
    command = [sys.executable, ROOT / "tools" / "notebooks.py", tmp_path]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode != 0
    assert message in done.stderr
    assert not (tmp_path / "notebooks" / "bad.ipynb").exists()
