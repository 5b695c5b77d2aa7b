"""reproduce: runs experiments, compares what they write with what is there."""

import sys
import types
from collections.abc import Callable
from pathlib import Path

import pytest
from vringlab.reproduce import differences, reproduce
from vringlab.results import read_manifest, write_table

NAME = "of_a_test"


class Experiment:
    """Stands in for vringlab.experiments.of_a_test.run; `value` is what it finds."""

    def __init__(self) -> None:
        self.value = 1
        self.checked: list[bool] = []

    def main(self, folder: Path, check: bool) -> None:
        self.checked.append(check)
        write_table(folder / "table.csv", ["x"], [(self.value,)])
        (folder / "figure.png").write_bytes(bytes([len(self.checked)]))
        assert self.value > 0, "x is positive"


@pytest.fixture
def experiment(monkeypatch: pytest.MonkeyPatch) -> Experiment:
    experiment = Experiment()
    module = types.ModuleType("run")
    module.main = experiment.main  # type: ignore[attr-defined]
    module.SEED = 5  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, f"vringlab.experiments.{NAME}", types.ModuleType(NAME))
    monkeypatch.setitem(sys.modules, f"vringlab.experiments.{NAME}.run", module)
    return experiment


def test_results_are_written_with_a_manifest(experiment: Experiment, tmp_path: Path) -> None:
    outcome = reproduce(NAME, tmp_path / "results", check=False)
    assert (outcome.name, outcome.problems) == (NAME, ())
    folder = tmp_path / "results" / NAME
    assert (folder / "table.csv").read_text() == "x\n1\n"
    manifest = read_manifest(folder)
    assert (manifest.command, manifest.seed) == (f"vringlab reproduce --only {NAME}", 5)
    assert list(manifest.data) == ["table.csv"]
    assert [p.name for p in (tmp_path / "results").iterdir()] == [NAME]


def test_files_of_before_are_gone(experiment: Experiment, tmp_path: Path) -> None:
    (tmp_path / NAME).mkdir()
    (tmp_path / NAME / "old.csv").touch()
    reproduce(NAME, tmp_path, check=False)
    assert not (tmp_path / NAME / "old.csv").exists()


def test_a_run_that_fails_leaves_what_was_there(experiment: Experiment, tmp_path: Path) -> None:
    reproduce(NAME, tmp_path, check=False)
    experiment.value = no_number  # type: ignore[assignment]
    with pytest.raises(TypeError):
        reproduce(NAME, tmp_path, check=False)
    assert (tmp_path / NAME / "table.csv").read_text() == "x\n1\n"
    assert [p.name for p in tmp_path.iterdir()] == [NAME]


def no_number() -> None:
    """Not to be compared with zero."""


def test_check_passes_where_only_pixels_and_time_differ(
    experiment: Experiment, tmp_path: Path
) -> None:
    reproduce(NAME, tmp_path, check=False)
    before = snapshot(tmp_path)
    assert reproduce(NAME, tmp_path, check=True).problems == ()
    assert experiment.checked == [False, True]
    assert snapshot(tmp_path) == before


def snapshot(folder: Path) -> dict[str, bytes]:
    return {str(p): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def test_check_says_what_differs(experiment: Experiment, tmp_path: Path) -> None:
    reproduce(NAME, tmp_path, check=False)
    experiment.value = 2
    folder = tmp_path / NAME
    assert reproduce(NAME, tmp_path, check=True).problems == (
        f"{folder}/manifest.json: another version, command, seed or data",
        f"{folder}/table.csv: line 2: '2' is made now",
    )


def test_a_claim_that_fails_is_a_problem(experiment: Experiment, tmp_path: Path) -> None:
    experiment.value = -1
    for check in (False, True):
        outcome = reproduce(NAME, tmp_path, check=check)
        assert [p.partition("\n")[0] for p in outcome.problems] == ["a claim failed: x is positive"]
    assert (tmp_path / NAME / "table.csv").exists()  # to look at


def test_no_results_yet(experiment: Experiment, tmp_path: Path) -> None:
    problems = reproduce(NAME, tmp_path, check=True).problems
    assert problems == (f"{tmp_path / NAME}: no such folder",)


CHANGES: dict[str, tuple[Callable[[Path], object], str]] = {
    "missing": (lambda f: (f / "table.csv").unlink(), "table.csv: is missing"),
    "more": (lambda f: (f / "old.csv").touch(), "old.csv: is not made any more"),
    "figure gone": (lambda f: (f / "figure.png").unlink(), "figure.png: is missing"),
    "line end": (
        lambda f: (f / "table.csv").write_bytes(b"x\r\n1\r\n"),
        "table.csv: another number",
    ),
    "longer": (
        lambda f: (f / "table.csv").write_text("x\n1\n2\n"),
        "table.csv: another number of lines, or other line ends",
    ),
}


@pytest.mark.parametrize("name", CHANGES)
def test_differences(experiment: Experiment, tmp_path: Path, name: str) -> None:
    change, expected = CHANGES[name]
    for folder in ("committed", "fresh"):
        reproduce(NAME, tmp_path / folder, check=False)
    committed, fresh = tmp_path / "committed" / NAME, tmp_path / "fresh" / NAME
    assert list(differences(committed, fresh)) == []
    change(committed)
    (found,) = differences(committed, fresh)
    assert found.startswith(f"{committed}/{expected}")
