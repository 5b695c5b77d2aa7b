"""What tests of several experiments share."""

import csv
import signal
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path

import pytest

# A shell that runs the tests in the background has Ctrl-C ignored, by all that it starts.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

PUBLISHED = files("vringlab") / "experiments" / "published.csv"

Row = dict[str, str]
Change = Callable[[Row], Row | None]


@pytest.fixture
def rewritten(tmp_path: Path) -> Callable[[Change], Path]:
    """Writes published.csv with each row changed, or left out where the change says None."""

    def write(change: Change) -> Path:
        with PUBLISHED.open(newline="") as file:
            rows = list(csv.DictReader(file))
        kept = [row for row in map(change, rows) if row is not None]
        path = tmp_path / "published.csv"
        with path.open("w", newline="") as file:
            writer = csv.DictWriter(file, kept[0].keys())
            writer.writeheader()
            writer.writerows(kept)
        return path

    return write


def _lost(row: Row) -> Row | None:
    return None if row["use"] == "predict" else row


def _falsified(row: Row) -> Row | None:
    return row | {"value": "1.0"} if row["use"] == "predict" else row


@pytest.fixture
def without_predicted(rewritten: Callable[[Change], Path]) -> Path:
    """published.csv without the rows to predict."""
    return rewritten(_lost)


@pytest.fixture(params=[_lost, _falsified], ids=["lost", "falsified"])
def other_predicted(request: pytest.FixtureRequest, rewritten: Callable[[Change], Path]) -> Path:
    """published.csv without the rows to predict, or with false values in them."""
    return rewritten(request.param)
