"""The engine's device half executes no more instructions than the same loop written by hand."""

import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = [
    "tests/native/device_loop.cc",
    "core/spec/error.cc",
    "core/memory/guest_memory.cc",
    "core/memory/ring_areas.cc",
]
CHAINS_A_ROUND = 64
MARGIN = 1.05  # the loops differ in what the compiler keeps in registers

needs_tools = pytest.mark.skipif(
    shutil.which("g++") is None or shutil.which("valgrind") is None,
    reason="needs g++ and valgrind",
)


@pytest.fixture(scope="module")
def instructions(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], float]:
    program = tmp_path_factory.mktemp("native") / "device_loop"
    flags = ["-std=c++20", "-O3", "-DNDEBUG", f"-I{ROOT}"]
    sources = [str(ROOT / source) for source in SOURCES]
    subprocess.run(["g++", *flags, *sources, "-o", str(program)], check=True)

    def total(loop: str, rounds: int) -> int:
        command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"]
        done = subprocess.run(
            [*command, str(program), loop, str(rounds)], check=True, capture_output=True, text=True
        )
        match = re.search(r"Collected : (\d+)", done.stderr)
        assert match, done.stderr
        return int(match[1])

    # The difference of two runs leaves out start-up.
    return lambda loop: (total(loop, 2000) - total(loop, 1000)) / (1000 * CHAINS_A_ROUND)


@needs_tools
def test_the_access_seam_is_free(instructions: Callable[[str], float]) -> None:
    engine, by_hand = instructions("engine"), instructions("by_hand")
    print(f"instructions a chain: engine {engine:.1f}, by hand {by_hand:.1f}")
    assert engine <= MARGIN * by_hand
