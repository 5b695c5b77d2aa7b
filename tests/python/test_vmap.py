"""experiments/vmap: only rows to calibrate are fitted, and the tables are what they claim to be."""

import json
import math
import shutil
from pathlib import Path

import pytest
import vringlab as vl
from vringlab.experiments.vmap import answers, base, figures
from vringlab.experiments.vmap.fit import calibration_points, committed_fit
from vringlab.experiments.vmap.refit import refit
from vringlab.published import load_published
from vringlab.results import read_table
from vringlab.validation import (
    COLUMNS,
    Row,
    gain_row,
    unit_per_second,
    write_combined,
    write_rows,
)

RESULTS = Path(__file__).parents[2] / "results"


def points_of(path=None):
    rows = [row for row in load_published(path) if row.id in base.RATES]
    return calibration_points(rows, base.RATES)


def test_rows_to_predict_are_not_seen_by_the_fit(other_predicted):
    points = points_of(other_predicted)
    assert points == points_of()
    assert committed_fit(points).data_sha256 == committed_fit(points_of()).data_sha256


def test_a_changed_row_to_calibrate_is_noticed(rewritten):
    def change(row):
        return row | {"value": "5.1"} if row["id"] == "vmap.before" else row

    changed = rewritten(change)
    with pytest.raises(ValueError, match=r"fit\.json: fitted to other data"):
        committed_fit(points_of(changed))


def test_fitting_again_agrees_with_the_committed_fit(without_predicted):
    # Without the rows to predict, so that they can't have any part in it.
    again = refit(without_predicted, draws=0)
    assert committed_fit(points_of()).agrees_with(again)
    assert again.agrees_with(committed_fit(points_of()))


def test_agreement_has_a_tolerance():
    fit = committed_fit(points_of())
    fields = {name: getattr(fit, name) for name in fit.__slots__}
    for factor, agrees in ((1.009, True), (1.011, False)):
        values = (fit.values[0] * factor, *fit.values[1:])
        assert fit.agrees_with(vl.Calibration(**(fields | {"values": values}))) is agrees


@pytest.fixture(scope="module")
def rows():
    table = read_table(RESULTS / "vmap" / "table.csv")
    assert table.columns == COLUMNS
    return table.rows


def test_table_has_the_published_rows_as_they_are(rows):
    published = [row for row in load_published() if row.source in answers.SOURCES]
    assert [row["id"] for row in rows] == [row.id for row in published]
    for row, expected in zip(rows, published, strict=True):
        assert (row["metric"], row["unit"], row["use"]) == (
            expected.metric,
            expected.unit,
            expected.use,
        )
        assert float(row["published"]) == expected.value


def test_table_has_intervals_around_the_predictions(rows):
    for row in rows:
        assert float(row["low"]) < float(row["predicted"]) < float(row["high"]), row["id"]
        share = row["unmodelled_share"]
        assert share == "" if row["metric"] == "gain" else 0 <= float(share) <= 0.35


def test_fitted_rows_are_met_within_their_noise(rows):
    for row in rows:
        if row["use"] == "calibrate":
            deviation = math.log(float(row["predicted"]) / float(row["published"]))
            assert abs(deviation) < 2 * 0.02


def test_waterfall_adds_up_to_the_rates(rows):
    rates = {row["id"]: float(row["predicted"]) for row in rows}
    sums = {}
    for row in read_table(RESULTS / "vmap" / "waterfall.csv").rows:
        user, mapped, difference = (
            float(row[f"{name}_ns"]) for name in ("user", "mapped", "difference")
        )
        assert mapped - user == pytest.approx(difference, abs=1e-4)
        total = sums.setdefault((row["host"], row["kernel"]), [0, 0])
        total[0] += user
        total[1] += mapped
    cases = dict(zip(sums, base.PAIRS, strict=True))
    for place, name in cases.items():
        for ns, when in zip(sums[place], ("before", "after"), strict=True):
            # The worker never idles, but for its wake-up.
            assert ns == pytest.approx(1e3 / rates[f"{name}.{when}"], rel=2e-3)


def test_posterior_names_every_fitted_row():
    fit = committed_fit(points_of())
    rows = read_table(RESULTS / "vmap" / "posterior.csv").rows
    assert [row["parameter"] for row in rows] == list(fit.names)
    for row in rows:
        assert float(row["posterior_5"]) < float(row["fitted"]) < float(row["posterior_95"])
        assert 0 < float(row["shrinkage"]) <= 1.001


def test_manifest_and_figures_are_there():
    folder = RESULTS / "vmap"
    manifest = json.loads((folder / "manifest.json").read_text())
    assert (manifest["version"], manifest["seed"]) == (vl.version, base.SEED)
    names = {"table.csv", "waterfall.csv", "posterior.csv", "used_element.csv"}
    assert set(manifest["data"]) == names
    for name in ("predicted", "waterfall"):
        assert (folder / f"{name}.png").read_bytes().startswith(b"\x89PNG")
        assert "<svg" in (folder / f"{name}.svg").read_text()


def test_figures_are_the_same_each_time(tmp_path):
    published = {row.id: row for row in load_published() if row.source in answers.SOURCES}
    rows = [Row(row, row.value, row.value - 1, row.value + 1, None) for row in published.values()]
    for name in ("a", "b"):
        figures.draw_predicted(tmp_path / name, rows)
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()
    assert b"<dc:date>" not in (tmp_path / "a.svg").read_bytes()


def test_tables_of_all_experiments_are_one(tmp_path):
    published = {row.id: row for row in load_published()}
    row = Row(published["vmap.before"], 5.1, 4.9, 5.3, 0.25)
    write_rows(tmp_path / "a" / "table.csv", [row])
    write_rows(tmp_path / "b" / "table.csv", [row, row])
    for _ in range(2):  # its own output is no input
        write_combined(tmp_path / "validation" / "table.csv", tmp_path)
    lines = (tmp_path / "validation" / "table.csv").read_text().splitlines()
    assert lines[0] == "id,metric,unit,published,predicted,low,high,use,unmodelled_share"
    assert lines[1:] == ["vmap.before,rate,Mpps,5,5.1,4.9,5.3,calibrate,0.25"] * 3
    (tmp_path / "b" / "table.csv").write_text("id,more\n")
    with pytest.raises(ValueError, match=r"table\.csv"):
        write_combined(tmp_path / "validation" / "table.csv", tmp_path)


def test_committed_validation_is_the_tables_of_the_experiments(tmp_path):
    for table in RESULTS.glob("*/table.csv"):
        (tmp_path / table.parent.name).mkdir()
        shutil.copy(table, tmp_path / table.parent.name)
    write_combined(tmp_path / "validation" / "table.csv", tmp_path)
    fresh = (tmp_path / "validation" / "table.csv").read_bytes()
    assert fresh == (RESULTS / "validation" / "table.csv").read_bytes()


def test_rows_refuse_what_they_are_not_for():
    published = {row.id: row for row in load_published()}
    with pytest.raises(ValueError, match="is no gain"):
        gain_row(published["vmap.before"], vl.Gain(1, 0, 2, 0.9))
    with pytest.raises(ValueError, match="is no packet rate"):
        unit_per_second(published["usedelem2019"], vl.Scenario())


def test_the_readme_says_what_the_table_says(rows):
    readme = (Path(__file__).parents[2] / "README.md").read_text()
    shown = [row for row in rows if row["id"].startswith("vmap2019.")]
    for row in shown:
        use = "fitted" if row["use"] == "calibrate" else "predicted"
        interval = f"{float(row['low']):.2f} to {float(row['high']):.2f}"
        cells = (f"{float(row['predicted']):.2f}, {use}", interval, row["published"])
        assert f"| {' | '.join(cells)} |" in readme
    for before, after in (shown[:2], shown[2:]):
        for column in ("predicted", "published"):
            gain = 100 * (float(after[column]) / float(before[column]) - 1)
            assert f"{gain:.0f} %" in " ".join(readme.split())
