"""The explorations: a table and a figure each, beyond what was published."""

from pathlib import Path

from vringlab.experiments.xdp_batch import caches, figures, latency, sizes
from vringlab.experiments.xdp_batch.base import Run
from vringlab.results import write_table

EXPLORATIONS = {"sizes": sizes, "caches": caches, "latency": latency}


def explored(folder: Path, run: Run) -> dict[str, tuple[str, str]]:
    """Writes the tables and figures; returns title and answer by their name."""
    answers = {}
    for name, module in EXPLORATIONS.items():
        cells = module.table(run)
        write_table(folder / f"{name}.csv", module.COLUMNS, cells)
        rows = [dict(zip(module.COLUMNS, row, strict=True)) for row in cells]
        figures.DRAWN[name](folder / name, rows)
        answers[name] = (module.TITLE, module.answer(rows))
    return answers
