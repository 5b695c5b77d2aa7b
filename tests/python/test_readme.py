"""The examples of the README and of the pages in docs/ work as they stand there."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()
SWEEPS = (ROOT / "docs" / "sweeps.md").read_text()


def python_of(page: str) -> list[str]:
    return re.findall(r"^```python\n(.*?)^```", page, re.DOTALL | re.MULTILINE)


def commands_of(page: str) -> list[str]:
    return re.findall(r"^vringlab ([^#\n]*)", page, re.MULTILINE)


PYTHON = python_of(README) + python_of(SWEEPS)
COMMANDS = commands_of(README)


def output(*arguments: str) -> str:
    command = [sys.executable, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    assert done.stderr == ""
    return done.stdout


def test_there_are_examples() -> None:
    assert (len(PYTHON), len(COMMANDS)) == (3, 3)


@pytest.mark.parametrize("code", PYTHON)
def test_python(code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert "simulated" in output("-c", code)


@pytest.mark.parametrize("command", COMMANDS)
def test_commands(command: str) -> None:
    assert len(output("-m", "vringlab", *command.split()).splitlines()) > 10


def test_commands_of_sweeps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    printed = [output("-m", "vringlab", *c.split()) for c in commands_of(SWEEPS)]
    assert printed == [
        "simulated 6 points, 0 failed: sweep-cli\n",
        "simulated 20 points, 0 failed: sweep-lhs\n",
    ]
