"""The layer check accepts the tree, and names each seeded violation by file and line."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TOOL = ROOT / "tools" / "check_layers.py"


def check(root: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, TOOL, root], capture_output=True, text=True, check=False, timeout=60
    )


def write(root: Path, file: str, text: str) -> None:
    path = root / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def notebook(code: str) -> str:
    return json.dumps({"cells": [{"cell_type": "code", "source": [code]}]})


def test_tree_is_clean() -> None:
    result = check(ROOT)
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")


ALLOWED = {
    "core/ring/split.h": '#include "core/spec/split.h"\n#include "core/memory/regions.h"\n',
    "core/device/loop.h": '#include "core/backend/net.h"\n#include "core/ring/split.h"\n',
    "core/ring/split.test.cc": '#include <gtest/gtest.h>\n#include "tests/doubles/driver.h"\n',
    "core/ring/split.perf.cc": "#include <benchmark/benchmark.h>\nconstexpr int goal_ns = 12;\n",
    "core/ring/split.cc": '// A read is free of cost here: see sim::Core.\n/* chrono */ "cost";\n',
    "sim/machine/core.h": '#include "sim/cost/ledger.h"\n#include "core/spec/split.h"\n',
    "sim/cost/fit.cc": "#include <Eigen/Dense>\n",
    "sim/run/scenario.h": '#include "sim/guest/testpmd.h"\n#include "sim/host/tap.h"\n',
    "bindings/run.pybind.cc": '#include <pybind11/pybind11.h>\n#include "sim/run/scenario.h"\n',
    "tests/differential.test.cc": '#include "core/device/loop.h"\n#include "sim/run/scenario.h"\n',
    "bindings/vringlab/cli.py": "import importlib\nfrom . import _native\n",
    "notebooks/first_steps.ipynb": notebook("import vringlab as vl\nvl.run(vl.Scenario())\n"),
    "notebooks/vmap.ipynb": notebook(
        "%matplotlib inline\nimport vringlab as vl\nvl.load('vmap')\n"
    ),
}


@pytest.mark.parametrize("file", ALLOWED)
def test_what_lies_below_is_allowed(tmp_path: Path, file: str) -> None:
    write(tmp_path, file, ALLOWED[file])
    result = check(tmp_path)
    assert (result.returncode, result.stdout) == (0, "")


# (file, its last line breaks a rule)
REFUSED = [
    ("core/spec/split.h", '#include "core/memory/regions.h"'),
    ("core/memory/regions.h", '#include "core/ring/split.h"'),
    ("core/ring/split.h", '#include "core/driver/split.h"'),
    ("core/driver/split.h", '#include "core/ring/split.h"'),
    ("core/backend/net.h", '#include "core/device/loop.h"'),
    ("core/device/loop.h", '#include "sim/machine/core.h"'),
    ("core/device/loop.cc", '#include "bindings/module.h"'),
    ("core/ring/split.test.cc", '#include "sim/machine/core.h"'),
    ("core/ring/split.h", '#include "tests/doubles/driver.h"'),
    ("core/ring/split.h", '#include "regions.h"'),
    ("core/ring/split.h", "#include <chrono>"),
    ("core/ring/split.h", "#include <Eigen/Dense>"),
    ("core/ring/split.h", "#include <pybind11/pybind11.h>"),
    ("core/ring/split.h", "#include <gtest/gtest.h>"),
    ("core/ring/split.h", "/* a comment\n of two lines */ sim::Core* core;"),
    ("core/ring/split.h", "uint64_t read_cost(int line);"),
    ("core/ring/split.h", "uint64_t elapsed_ns;"),
    ("sim/cost/ledger.h", '#include "sim/machine/core.h"'),
    ("sim/machine/core.h", '#include "sim/access/model.h"'),
    ("sim/access/model.h", '#include "sim/guest/testpmd.h"'),
    ("sim/guest/testpmd.h", '#include "sim/host/tap.h"'),
    ("sim/host/tap.h", '#include "sim/run/scenario.h"'),
    ("sim/run/scenario.h", "#include <pybind11/numpy.h>"),
    ("sim/run/scenario.cc", '#include "bindings/module.h"'),
    ("bindings/run.pybind.cc", '#include "core/ring/split.h"'),
    ("bindings/vringlab/cli.py", "from vringlab.experiments import vmap"),
    ("bindings/vringlab/cli.py", "from . import experiments"),
    ("bindings/vringlab/cli.py", "import experiments.vmap"),
]


@pytest.mark.parametrize(("file", "text"), REFUSED)
def test_violation_is_named(tmp_path: Path, file: str, text: str) -> None:
    write(tmp_path, file, "\n" + text + "\n")
    result = check(tmp_path)
    line = 1 + len(text.splitlines())
    assert result.returncode == 1
    assert result.stdout.startswith(f"{file}:{line}: ")
    assert result.stdout.count("\n") == 1


@pytest.mark.parametrize(
    "code",
    [
        "import vringlab as vl\nvl.run(None)",
        "import vringlab as vl\nvl.run_many([])",
        "from vringlab import sweep",
        "from vringlab.experiments import vmap",
        "import experiments.vmap",
        "import vringlab._native",
    ],
)
def test_notebook_must_not_simulate(tmp_path: Path, code: str) -> None:
    write(tmp_path, "notebooks/vmap.ipynb", notebook(code))
    assert check(tmp_path).returncode == 1


def test_even_first_steps_must_not_sweep(tmp_path: Path) -> None:
    write(tmp_path, "notebooks/first_steps.ipynb", notebook("import vringlab as vl\nvl.sweep()"))
    assert check(tmp_path).returncode == 1


def test_core_test_must_not_reach_the_simulator_through_a_double(tmp_path: Path) -> None:
    write(tmp_path, "tests/doubles/driver.h", '#include "tests/doubles/clock.h"\n')
    write(tmp_path, "tests/doubles/clock.h", '#include "sim/machine/core.h"\n')
    write(tmp_path, "core/ring/split.test.cc", '#include "tests/doubles/driver.h"\n')
    result = check(tmp_path)
    assert result.returncode == 1
    assert result.stdout.startswith("core/ring/split.test.cc:1: tests/doubles/driver.h leads to")
