"""validate: the scoreboard of every published row, and what it comes to."""

import csv
import pickle
import sys
import types
from pathlib import Path

import pytest
import vringlab as vl
from typer.testing import CliRunner
from vringlab.cli import app
from vringlab.published import load_published
from vringlab.reproduce import combine
from vringlab.scoreboard import KINDS, read_scores, summarise, systems, write_scores
from vringlab.validation import TABLE, Row, write_rows

RESULTS = Path(__file__).parents[2] / "results"


def score(published=100.0, predicted=110.0, use="predict", metric="rate", system="a", half=15.0):
    unit = "pps" if metric == "rate" else "%"
    low, high = predicted - half, predicted + half
    return vl.Score(system, "x", metric, unit, published, predicted, low, high, use, None)


def test_errors_are_in_percent_or_in_points():
    assert (score(200, 210).error, score(200, 210).error_unit) == (pytest.approx(5), "%")
    gain = score(0.0, -3.0, metric="gain")
    assert (gain.error, gain.error_unit) == (-3, "points")
    assert score(metric="utilisation of the vhost CPU").kind == "utilisation"


@pytest.mark.parametrize(
    ("published", "inside"), [(95, True), (94.9, False), (125, True), (126, False)]
)
def test_the_interval_has_its_ends(published, inside):
    assert score(published=published).inside is inside


def test_the_model_error_widens_rates_and_utilisations_and_no_gain():
    low, high = score().with_model_error
    assert low < 95
    assert high > 125
    assert score(metric="gain").with_model_error == (95, 125)
    busy = score(80, 80, metric="utilisation", half=15).with_model_error
    assert busy[0] < 65
    assert busy[1] == 100
    missed = score(published=90)
    assert (missed.inside, missed.inside_with_model_error) == (False, True)
    [*_, total] = summarise([missed, score(published=10)])
    assert (total.coverage_percent, total.coverage_with_model_error_percent) == (0, 50)


def test_fitted_rows_count_for_nothing_but_their_number():
    rows = [score(100, 110), score(100, 101), score(100, 130, half=1), score(1, 9, use="calibrate")]
    total = {(s.system, s.kind): s for s in summarise(rows)}["all", "rate"]
    assert (total.fitted, total.predicted, total.inside) == (1, 3, 2)
    assert total.median_error == pytest.approx(10)
    assert total.coverage_percent == pytest.approx(200 / 3)


def test_rates_and_gains_have_no_median_in_common():
    rows = [score(), score(5, 8, metric="gain", system="b")]
    found = {(s.system, s.kind): s for s in summarise(rows)}
    assert (found["all", "all"].median_error, found["all", "all"].error_unit) == (None, "")
    assert (found["b", "all"].median_error, found["b", "all"].error_unit) == (3, "points")
    assert found["all", "all"].inside == found["a", "all"].inside + found["b", "all"].inside


def test_only_fitted_rows_have_no_coverage():
    [*_, total] = summarise([score(use="calibrate")])
    assert (total.predicted, total.median_error, total.coverage_percent) == (0, None, None)


def test_committed_summary_is_of_the_committed_tables(tmp_path):
    rows = read_scores(RESULTS)
    assert {row.system for row in rows} == set(systems())
    write_scores(tmp_path, rows)
    for name in ("scoreboard.csv", "summary.csv"):
        assert (tmp_path / name).read_text() == (RESULTS / "validation" / name).read_text()


@pytest.mark.parametrize("kind", KINDS)
def test_the_readme_has_the_committed_summary(kind):
    found = {(s.system, s.kind): s for s in summarise(read_scores(RESULTS))}["all", kind]
    error = f"{found.median_error:.1f} {found.error_unit}"
    counts = f"{found.inside} | {found.inside_with_model_error}"
    line = f"| {kind}s | {found.predicted} | {error} | {counts} |"
    assert line in (RESULTS.parent / "README.md").read_text().splitlines()


def test_committed_scoreboard_has_every_row():
    with (RESULTS / "validation" / "scoreboard.csv").open() as file:
        rows = {row["id"]: row for row in csv.DictReader(file)}
    published = {row.id: row for row in load_published()}
    assert set(published) == set(rows)
    for name, row in rows.items():
        assert row["use"] == published[name].use
        assert float(row["published"]) == float(f"{published[name].value:.6g}")


@pytest.fixture(scope="module")
def vmap():
    return vl.validate("vmap", draws=3)


def test_validate_runs_what_reproduce_wrote(vmap):
    committed = [row for row in read_scores(RESULTS) if row.system == "vmap"]
    assert [(r.id, r.predicted, r.unmodelled_share) for r in vmap.rows] == [
        (r.id, r.predicted, r.unmodelled_share) for r in committed
    ]
    assert vmap.not_simulated == ()
    assert pickle.loads(pickle.dumps(vmap)) == vmap


def test_report_names_every_row_and_system(vmap):
    text = vmap.report()
    for row in vmap.rows:
        assert row.id in text
    assert "fitted" in text
    assert "simulated" in text
    assert "coverage" in text


def test_unknown_names(vmap):
    with pytest.raises(ValueError, match=r'system = "no": must be one of premapped, .*vmap'):
        vl.validate("no")
    with pytest.raises(ValueError, match=r'no rate rows of "no"'):
        vmap.of("no", KINDS[0])


@pytest.fixture
def one_answer(monkeypatch):
    """A system that answers for one row, and no other system."""
    published = next(row for row in load_published() if row.id == "vmap.after")
    module = types.ModuleType("answers")
    module.answers = lambda rows, draws: [Row(published, 6.0, 5.0, 7.0, 0.5)]
    monkeypatch.setitem(sys.modules, "vringlab.experiments.vmap.answers", module)
    monkeypatch.setattr("vringlab.scoreboard.systems", lambda: ("vmap",))


def test_rows_without_an_answer_are_named(one_answer):
    found = vl.validate()
    assert [row.id for row in found.rows] == ["vmap.after"]
    assert set(found.not_simulated) == {row.id for row in load_published()} - {"vmap.after"}
    assert "not simulated: vmap.before, " in found.report()


def test_command_writes_the_scoreboard(one_answer, tmp_path):
    done = CliRunner().invoke(app, ["validate", "--out", str(tmp_path / "new")])
    assert done.exit_code == 0
    assert "vmap.after" in done.output
    names = {path.name for path in (tmp_path / "new").iterdir()}
    assert names == {"scoreboard.csv", "summary.csv", "manifest.json"}


def test_combining_makes_the_same_scoreboard(tmp_path):
    published = {row.id: row for row in load_published()}
    write_rows(tmp_path / "vmap" / TABLE, [Row(published["vmap.after"], 6.0, 5.0, 7.0, 0.5)])
    combine(tmp_path, check=False)
    with (tmp_path / "validation" / "scoreboard.csv").open() as file:
        [row] = csv.DictReader(file)
    assert (row["system"], row["id"], row["inside"]) == ("vmap", "vmap.after", "yes")
    assert float(row["error"]) == pytest.approx(100 * (6 / 6.1 - 1), rel=1e-4)
