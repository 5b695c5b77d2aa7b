#!/usr/bin/env python3
"""Checks that nothing includes or imports what lies above it.

    tools/check_layers.py [ROOT]

Prints one `file:line: message` per violation and exits with 1 if there is any.
"""

import ast
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

# folder -> the folders it may include besides itself.
CORE_LAYERS = {
    "core/spec": (),
    "core/memory": ("core/spec",),
    "core/ring": ("core/spec", "core/memory"),
    "core/driver": ("core/spec", "core/memory"),
    "core/backend": ("core/spec", "core/memory", "core/ring", "core/driver"),
    "core/device": ("core/spec", "core/memory", "core/ring", "core/driver", "core/backend"),
}
SIM_LAYERS = {
    "sim/cost": (),
    "sim/machine": ("sim/cost",),
    "sim/access": ("sim/cost", "sim/machine"),
    "sim/guest": ("sim/cost", "sim/machine", "sim/access"),
    "sim/host": ("sim/cost", "sim/machine", "sim/access"),
    "sim/run": ("sim/cost", "sim/machine", "sim/access", "sim/guest", "sim/host"),
}
MAY_INCLUDE = {
    **CORE_LAYERS,
    **{folder: (*below, "core") for folder, below in SIM_LAYERS.items()},
    # sim/run is the door to the engine; the cost rows and presets are data behind no door.
    "bindings": ("sim/run", "sim/cost", "measure"),
    "measure": (),
    "tests": ("core", "sim"),
}
CPP_FOLDERS = ("core", "sim", "measure", "bindings", "tests")
CPP_SUFFIXES = {".h", ".cc", ".inl"}
TEST_SUFFIX = re.compile(r"\.(test|perf|fuzz)\.(h|cc|inl)$")

# top folder -> system headers that it must not know.
FORBIDDEN_HEADERS = {
    "core": re.compile(r"(Eigen|eigen3|pybind11|numpy)/|Python\.h$|chrono$|ctime$|time\.h$"),
    "sim": re.compile(r"(pybind11|numpy)/|Python\.h$"),
}
TEST_HEADERS = re.compile(r"(gtest|gmock|benchmark)/")
# Names that would bring time, cost or the simulator into core.
FORBIDDEN_CORE_NAMES = re.compile(
    r"\b(?:namespace\s+sim|sim::|chrono::|\w+_(?:ns|ps|cycles)\b|\w*[Pp]icosecond\w*"
    r"|(?:\w+_)?cost(?:s|_\w+)?\b|Cost[A-Z]\w*)"
)
# What makes a notebook simulate instead of reading results/.
SIMULATING_CALLS = {
    *("run", "run_many", "sweep", "calibrate", "predict", "sample", "validate", "reproduce"),
}
# These show how to, and may call `run`.
MAY_RUN = {"first_steps", "life_of_a_packet", "your_own_question"}

INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]')
COMMENT_OR_STRING = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"', re.DOTALL)


class Violation(NamedTuple):
    """One line that breaks a rule; `file` is relative to the root."""

    file: str
    line: int
    message: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.message}"


class Include(NamedTuple):
    """One #include; `quoted` tells "path" from <path>."""

    line: int
    quoted: bool
    path: str


def layer_of(path: str) -> str:
    """The layer a file or an included path belongs to; its top folder where that has none."""
    folder = "/".join(path.split("/")[:2])
    return folder if folder in MAY_INCLUDE else path.split("/", 1)[0]


def is_within(layer: str, allowed: tuple[str, ...]) -> bool:
    return any(layer == folder or layer.startswith(folder + "/") for folder in allowed)


def files_below(root: Path, folders: tuple[str, ...], suffixes: set[str]) -> Iterator[Path]:
    for folder in folders:
        yield from sorted(p for p in (root / folder).rglob("*") if p.suffix in suffixes)


def includes_of(text: str) -> Iterator[Include]:
    for number, line in enumerate(text.splitlines(), 1):
        if match := INCLUDE.match(line):
            yield Include(number, match[1] == '"', match[2])


def check_quoted(file: str, include: Include) -> str | None:
    """A message if `file` may not include the project's header `include`."""
    own, target = layer_of(file), layer_of(include.path)
    if target not in MAY_INCLUDE:
        if include.path.split("/", 1)[0] in CPP_FOLDERS and own == target:
            return None
        return f'"{include.path}" is in no layer: write the path from the root'
    if target == "tests" and TEST_SUFFIX.search(file):
        return None
    if target == own or is_within(target, MAY_INCLUDE.get(own, ())):
        return None
    return f"{own} must not include {target}"


def check_system(file: str, include: Include) -> str | None:
    """A message if `file` may not include the system header `include`."""
    top = file.split("/", 1)[0]
    if top in FORBIDDEN_HEADERS and FORBIDDEN_HEADERS[top].match(include.path):
        return f"{top} must not include <{include.path}>"
    if TEST_HEADERS.match(include.path) and top != "tests" and not TEST_SUFFIX.search(file):
        return f"<{include.path}> belongs in *.test.* and *.perf.*"
    return None


def check_test_double(root: Path, file: str, include: Include) -> str | None:
    """A message if a core test reaches the simulator through headers of tests/."""
    if not file.startswith("core/"):
        return None
    pending, seen = [include.path], set()
    while pending:
        path = pending.pop()
        if path.startswith("sim/"):
            return f"{include.path} leads to {path}: core must not see the simulator"
        if path.startswith("tests/") and path not in seen and (root / path).exists():
            seen.add(path)
            text = (root / path).read_text()
            pending += [inner.path for inner in includes_of(text) if inner.quoted]
    return None


def check_core_names(file: str, text: str) -> Iterator[Violation]:
    if not file.startswith("core/") or TEST_SUFFIX.search(file):
        return
    # Comments and strings may speak of costs; keep their line breaks for the line numbers.
    code = COMMENT_OR_STRING.sub(lambda m: "\n" * m[0].count("\n"), text)
    for number, line in enumerate(code.splitlines(), 1):
        for match in FORBIDDEN_CORE_NAMES.finditer(line):
            yield Violation(file, number, f"core must not name time or cost: {match[0]}")


def check_cpp(root: Path) -> Iterator[Violation]:
    for path in files_below(root, CPP_FOLDERS, CPP_SUFFIXES):
        file, text = path.relative_to(root).as_posix(), path.read_text()
        for include in includes_of(text):
            check = check_quoted if include.quoted else check_system
            message = check(file, include)
            if message is None and include.quoted and include.path.startswith("tests/"):
                message = check_test_double(root, file, include)
            if message:
                yield Violation(file, include.line, message)
        yield from check_core_names(file, text)


def imported_modules(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """(line, dotted name) of each static import; a relative one has its leading dots."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            module = "." * node.level + (node.module or "")
            separator = "" if module.endswith(".") else "."
            yield from ((node.lineno, module + separator + alias.name) for alias in node.names)


def check_package(root: Path) -> Iterator[Violation]:
    """The package finds experiments by name at run time; it imports none."""
    for path in files_below(root, ("bindings/vringlab",), {".py"}):
        for line, module in imported_modules(ast.parse(path.read_text())):
            if "experiments" in module.lstrip(".").split(".")[:2]:
                file = path.relative_to(root).as_posix()
                yield Violation(file, line, "the package must not import experiments")


def notebook_code(path: Path) -> str:
    """The code cells, with magics as empty lines."""
    cells = json.loads(path.read_text())["cells"]
    code = "\n".join("".join(c["source"]) for c in cells if c["cell_type"] == "code")
    return re.sub(r"^\s*[%!].*$", "", code, flags=re.MULTILINE)


def simulating_names(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """(line, name) of each use of the simulator through the package."""
    packages: set[str] = set()
    uses: list[ast.Attribute] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            packages |= {a.asname or a.name for a in node.names if a.name == "vringlab"}
        if isinstance(node, ast.Attribute) and node.attr in SIMULATING_CALLS:
            uses.append(node)
    for use in uses:
        if isinstance(use.value, ast.Name) and use.value.id in packages:
            yield use.lineno, use.attr
    for line, module in imported_modules(tree):
        parts = module.split(".")
        if parts[0] == "experiments" or "experiments" in parts[1:2] or "_native" in parts:
            yield line, module
        if parts[0] == "vringlab" and parts[-1] in SIMULATING_CALLS:
            yield line, module


def check_notebooks(root: Path) -> Iterator[Violation]:
    """Line numbers count the lines of all code cells together."""
    for path in files_below(root, ("notebooks",), {".ipynb"}):
        file = path.relative_to(root).as_posix()
        for line, name in simulating_names(ast.parse(notebook_code(path))):
            if name == "run" and path.stem in MAY_RUN:
                continue
            yield Violation(file, line, f"a notebook reads results/, it must not simulate: {name}")


def main(arguments: list[str]) -> int:
    root = Path(arguments[0]) if arguments else Path(__file__).resolve().parents[1]
    violations = [*check_cpp(root), *check_package(root), *check_notebooks(root)]
    for violation in violations:
        print(violation)
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
