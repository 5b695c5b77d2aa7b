#!/usr/bin/env python3
"""Applies each mutation of mutations.toml to a copy of the tree and demands that its test fails.

    tests/mutation/run.py [--every N] [NAME...]

Only the test source that a mutation names is compiled, without optimisation. What does not compile
is an error: it says nothing about the tests. Exits with 1 if a mutant survives. `--every N` takes
one in N, for a quick look.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
LIST = Path(__file__).with_name("mutations.toml")
CORE_SOURCES = (
    "core/spec/error.cc",
    "core/memory/guest_memory.cc",
    "core/memory/ring_areas.cc",
    "core/backend/blk/file_request.cc",
    "core/backend/blk/file_store.cc",
    "core/backend/blk/uring_queue.cc",
    "core/backend/blk/uring_store.cc",
)
COMPILE = (os.environ.get("CXX", "g++"), "-std=c++20", "-O0", "-w")
RUN_SECONDS = 20
# Exploring is slow: optimised, and two requests find every fault.
EXPLORER = "tests/order/order.test.cc"
EXPLORER_TESTS = "Order/Interleavings*requests2*"
PRECOMPILED = "#include <gtest/gtest.h>\n\n#include <functional>\n#include <map>\n#include <set>\n"


@dataclass(frozen=True)
class Mutation:
    """One slip: `old` is replaced by `new` in `file`; the tests of `test` must notice."""

    name: str
    file: str
    old: str
    new: str
    why: str
    test: str

    def applied(self, root: Path) -> str:
        text = (root / self.file).read_text()
        if (count := text.count(self.old)) != 1:
            raise ValueError(f"{self.name}: old text occurs {count} times in {self.file}")
        return text.replace(self.old, self.new)


def load() -> list[Mutation]:
    return [Mutation(**row) for row in tomllib.loads(LIST.read_text())["mutant"]]


def sources_that_see(file: str) -> list[str]:
    """The sources of CORE_SOURCES that may include `file`, or are it."""
    if file.startswith(("core/spec/", "core/memory/")):
        return list(CORE_SOURCES)
    folder = f"{Path(file).parent}/"
    return [source for source in CORE_SOURCES if source.startswith(folder)]


class Bench:
    """A copy of the sources with what no mutation changes compiled once."""

    def __init__(self, root: Path) -> None:
        self.root = root
        for folder in ("core", "tests"):
            shutil.copytree(ROOT / folder, root / folder)
        (root / "all.h").write_text(PRECOMPILED)
        self.command(*COMPILE, "-x", "c++-header", root / "all.h", "-o", root / "all.h.gch")
        self.core = {source: self.compile_core(source, root, None) for source in CORE_SOURCES}

    def command(self, *arguments: str | Path) -> None:
        subprocess.run(arguments, check=True, capture_output=True, text=True)

    def compile(self, source: str, output: Path, overlay: Path | None, *flags: str | Path) -> Path:
        """Headers and sources below `overlay` stand in front of those of the copy."""
        path = self.root / source
        if overlay and (overlay / source).exists():
            path = overlay / source
        includes = [f"-I{folder}" for folder in (overlay, self.root) if folder]
        self.command(*COMPILE, *includes, *flags, "-c", path, "-o", output)
        return output

    def compile_core(self, source: str, folder: Path, overlay: Path | None) -> Path:
        return self.compile(source, folder / (Path(source).stem + ".o"), overlay)

    def failure(self, test: str, mutation: Mutation | None) -> str:
        """Why the tests of `test` fail; empty if they pass."""
        with tempfile.TemporaryDirectory(dir=self.root) as name:
            folder, core = Path(name), dict(self.core)
            if mutation:
                mutated = folder / mutation.file
                mutated.parent.mkdir(parents=True)
                mutated.write_text(mutation.applied(ROOT))
                for source in sources_that_see(mutation.file):
                    core[source] = self.compile_core(source, folder, folder)
            flags = ["-O1"] if test == EXPLORER else ["-include", self.root / "all.h"]
            tests = self.compile(test, folder / "test.o", folder, *flags)
            program = folder / "test"
            libraries = ("-lgtest", "-lgtest_main", "-lpthread")
            self.command(COMPILE[0], tests, *core.values(), *libraries, "-o", program)
            return run(program, EXPLORER_TESTS if test == EXPLORER else "*")


def run(program: Path, tests: str) -> str:
    environment = {**os.environ, "GTEST_FAIL_FAST": "1", "GTEST_FILTER": tests}
    try:
        result = subprocess.run(
            [program],
            env=environment,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=RUN_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"no end after {RUN_SECONDS} s"
    if result.returncode == 0:
        return ""
    failed = [line for line in result.stdout.splitlines() if line.startswith("[  FAILED  ] ")]
    return failed[0].split()[3].rstrip(",") if failed else f"exit status {result.returncode}"


def checked(work: Callable[[], str]) -> tuple[bool, str]:
    """(did it run, what it says)."""
    try:
        return True, work()
    except ValueError as error:
        return False, str(error)
    except subprocess.CalledProcessError as error:
        return False, f"does not compile:\n{error.stderr[-2000:]}"


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description="Demands that each seeded fault is caught.")
    parser.add_argument("--every", type=int, default=1, help="take one in this many")
    parser.add_argument("names", nargs="*", help="only these")
    asked = parser.parse_args(arguments)
    wanted = set(asked.names)
    mutations = [m for m in load() if not wanted or m.name in wanted][:: asked.every]
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(os.cpu_count()) as pool:
        bench = Bench(Path(folder))
        tests = sorted({m.test for m in mutations})
        intact = pool.map(lambda test: checked(lambda: bench.failure(test, None)), tests)
        for test, (ran, reason) in list(zip(tests, intact, strict=True)):
            if not ran or reason:
                print(f"{test} fails without a mutation: {reason}")
                return 1
        mutants = pool.map(lambda m: checked(lambda: bench.failure(m.test, m)), mutations)
        failed = 0
        for mutation, (ran, reason) in zip(mutations, mutants, strict=True):
            caught = ran and reason
            failed += not caught
            verdict = "caught" if caught else "SURVIVED" if ran else "ERROR"
            print(f"{verdict:8} {mutation.name}: {reason or mutation.why}", flush=True)
    print(f"{len(mutations) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
