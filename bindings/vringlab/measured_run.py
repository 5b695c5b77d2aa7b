"""A program of its own that measures a build of the simulator: `measured_run.py MODULE REQUEST`.

It loads the module by its path and nothing else of the package, so that any build can be measured
and that nothing but the simulator is in the way. REQUEST is JSON, see `measuring.py`.
"""

import hashlib
import json
import sys
import time
from importlib.machinery import ExtensionFileLoader
from importlib.util import module_from_spec, spec_from_loader
from typing import Any


def load(path: str) -> Any:
    loader = ExtensionFileLoader("_native", path)
    spec = spec_from_loader("_native", loader)
    assert spec is not None
    module = module_from_spec(spec)
    loader.exec_module(module)
    return module


def set_fields(native: Any, values: dict[str, Any]) -> Any:
    """Sets what `measuring.native_fields` lists."""
    for name, value in values.items():
        now = getattr(native, name)
        if name in ("plan", "blk"):
            setattr(native, name, set_fields(now, value))
        elif isinstance(value, str) and not isinstance(now, str):
            setattr(native, name, type(now)[value])  # an enum
        else:
            setattr(native, name, value)
    return native


def metrics(result: Any) -> dict[str, int | str]:
    """All integers of a result that are not zero, and a digest of each core's ledger."""
    found = integers("", result)
    for core in result.cores:
        found |= integers(f"{core.name}.", core)
        rows = [(row.step, row.cost, row.ps, row.count) for row in core.ledger]
        found[f"{core.name}.ledger"] = hashlib.sha256(repr(rows).encode()).hexdigest()[:16]
    return found


def integers(prefix: str, owner: Any) -> dict[str, int | str]:
    found: dict[str, int | str] = {}
    for name in dir(owner):
        value = getattr(owner, name)
        if name.startswith("_") or isinstance(value, (str, float, list)):
            continue
        if isinstance(value, int):
            found |= {prefix + name: value} if value else {}
        else:
            found |= integers(f"{prefix}{name}.", value)
    return found


def main() -> None:
    module = load(sys.argv[1])
    request = json.loads(sys.argv[2])
    answers: list[Any] = []
    for values in request["scenarios"]:
        scenario = set_fields(module.Scenario(), values)
        start = time.perf_counter_ns()
        results = [module.run(scenario, module.RunControl()) for _ in range(request["times"])]
        answer = {"ns": time.perf_counter_ns() - start, "packets": results[-1].packets}
        answers.append(answer | ({"metrics": metrics(results[-1])} if request["metrics"] else {}))
    print(json.dumps({"compiler": module.compiler, "answers": answers}))


if __name__ == "__main__":
    main()
