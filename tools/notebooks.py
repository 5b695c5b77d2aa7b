#!/usr/bin/env python3
"""Runs notebooks/*.py and writes an .ipynb with its outputs beside each.

    tools/notebooks.py [ROOT] [NAME ...]

Scripts (py:percent of jupytext) are what is edited, .ipynb what is read. Nothing of the machine or
the moment is written: the same results make the same bytes. With the Python that has vringlab.
"""

import json
import sys
from pathlib import Path
from typing import Any

import jupytext
from nbclient import NotebookClient

SECONDS = 120
"""Most that one cell may take."""
# It warns that whoever is on this machine could listen in.
QUIET = ["--IPKernelApp.log_level=40"]
WIDGET = "application/vnd.jupyter.widget-view+json"
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}


def notebook_of(script: Path) -> Any:
    """The notebook of a script, without outputs."""
    return jupytext.read(script, fmt="py:percent")


def executed(script: Path) -> Any:
    """The notebook of a script, run in the folder of the script."""
    notebook = notebook_of(script)
    client = NotebookClient(
        notebook,
        timeout=SECONDS,
        kernel_name="python3",
        extra_arguments=QUIET,
        resources={"metadata": {"path": str(script.parent)}},
    )
    client.execute()
    return notebook


def cleaned(notebook: Any, name: str) -> dict[str, Any]:
    """What is written: without times, counts and identifiers of this run."""
    cells = [_cell(cell, f"{name}-{i}") for i, cell in enumerate(notebook.cells)]
    return {"cells": cells, "metadata": METADATA, "nbformat": 4, "nbformat_minor": 5}


def _cell(cell: Any, identifier: str) -> dict[str, Any]:
    base = {"cell_type": cell.cell_type, "id": identifier, "metadata": {}}
    base["source"] = cell.source.splitlines(keepends=True)
    if cell.cell_type != "code":
        return base
    outputs = [_output(output) for output in cell.outputs if not _is_live(output)]
    return base | {"execution_count": None, "outputs": outputs}


def _is_live(output: Any) -> bool:
    """A widget needs a kernel to show it, and its identifier is another one each time."""
    return WIDGET in output.get("data", {})


def _output(output: Any) -> dict[str, Any]:
    if output.output_type == "stream":
        if output.name != "stdout":
            raise SystemExit(f"a cell wrote to {output.name}: {output.text}")
        text = output.text.splitlines(keepends=True)
        return {"name": "stdout", "output_type": "stream", "text": text}
    # What a cell displays and what it ends with look the same to a reader.
    data = {kind: _lines(kind, value) for kind, value in sorted(output.data.items())}
    return {"data": data, "metadata": {}, "output_type": "display_data"}


def _lines(kind: str, value: Any) -> Any:
    return value.splitlines(keepends=True) if kind.startswith("text/") else value


def main(arguments: list[str]) -> None:
    root = Path(__file__).resolve().parent.parent
    if arguments and Path(arguments[0]).is_dir():
        root = Path(arguments.pop(0))
    scripts = {path.stem: path for path in sorted((root / "notebooks").glob("*.py"))}
    for name in arguments or scripts:
        if name not in scripts:
            raise SystemExit(f"notebook = {name}: must be one of {', '.join(scripts)}")
        text = json.dumps(cleaned(executed(scripts[name]), name), indent=1, ensure_ascii=False)
        scripts[name].with_suffix(".ipynb").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
