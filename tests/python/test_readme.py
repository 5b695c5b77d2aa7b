"""The examples of the README work as they stand there."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

README = (Path(__file__).parents[2] / "README.md").read_text()
PYTHON = re.findall(r"^```python\n(.*?)^```", README, re.DOTALL | re.MULTILINE)
COMMANDS = re.findall(r"^vringlab ([^#\n]*)", README, re.MULTILINE)


def output(*arguments: str) -> str:
    command = [sys.executable, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    assert done.stderr == ""
    return done.stdout


def test_there_are_examples() -> None:
    assert (len(PYTHON), len(COMMANDS)) == (1, 3)


@pytest.mark.parametrize("code", PYTHON)
def test_python(code: str) -> None:
    assert "simulated" in output("-c", code)


@pytest.mark.parametrize("command", COMMANDS)
def test_commands(command: str) -> None:
    assert len(output("-m", "vringlab", *command.split()).splitlines()) > 10
