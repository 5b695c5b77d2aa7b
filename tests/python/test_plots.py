"""Figures: what stands in them, and that nothing is left out without being counted."""

import math
from collections.abc import Callable
from pathlib import Path

import matplotlib
import pytest
import vringlab as vl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from vringlab import plots
from vringlab.comparison import Comparison
from vringlab.results import read_table

ROOT = Path(__file__).parents[2]


def texts(axes: Axes) -> list[str]:
    return [text.get_text() for text in axes.texts]


def score(
    published: float, predicted: float, *, unit: str = "pps", fitted: bool = False
) -> plots.Score:
    return plots.Score("a", unit, published, predicted, 0.9 * predicted, 1.1 * predicted, fitted)


def latency(*us: int) -> vl.Latency:
    return vl.Latency(0, *(value * 1_000_000 for value in us))


@pytest.fixture(scope="module")
def comparison() -> Comparison:
    user, mapped = vl.run_many(
        [vl.Scenario(packets=2000), vl.Scenario(packets=2000, plan=vl.AccessPlan.vmap())]
    )
    return vl.compare(user, mapped)


def fall(comparison: Comparison) -> plots.SimulatedFigure:
    return plots.waterfall({"a": comparison}, before="user", after="mapped", title="T")


EMPTY: dict[str, Callable[[], plots.SimulatedFigure]] = {
    "scoreboard": lambda: plots.scoreboard({}),
    "waterfall": lambda: plots.waterfall({}, before="a", after="b", title="T"),
    "heat_map": lambda: plots.heat_map({}, title="T", xlabel="x", ylabel="y", label="z"),
    "heat_map of nothing": lambda: plots.heat_map(
        {"a": {}}, title="T", xlabel="x", ylabel="y", label="z", boundary=0, log=True
    ),
    "batch_sweep": lambda: plots.batch_sweep({}, title="T", ylabel="ns"),
    "batch_sweep of nothing": lambda: plots.batch_sweep(
        {"a": []}, title="T", ylabel="ns", log=True
    ),
    "latency_cdf": lambda: plots.latency_cdf({}),
}


@pytest.mark.parametrize("name", EMPTY)
def test_a_figure_of_nothing_says_so(name: str, tmp_path: Path) -> None:
    figure = EMPTY[name]()
    assert texts(figure.axes[0]) == ["no data"]
    plots.save(figure, tmp_path / "figure")


def test_what_is_empty_beside_others_is_said() -> None:
    point = plots.BatchPoint(batch=1, value=2.0)
    sweep = plots.batch_sweep({"tx": [point], "rx": []}, title="T", ylabel="ns")
    board = plots.scoreboard({"vmap": [score(5, 6)], "blk": []})
    assert (sweep.notes, board.notes) == (["rx: no points"], ["blk: no rows"])
    assert "blk: no rows" in board.get_suptitle()


def test_every_figure_says_simulated_and_the_version(comparison: Comparison) -> None:
    figures = [fall(comparison), *(make() for make in EMPTY.values())]
    lines = [figure.get_suptitle().splitlines() for figure in figures]
    assert {line[1] for line in lines} == {f"simulated, vringlab {vl.version}"}


def test_jupyter_shows_a_figure() -> None:
    assert plots.latency_cdf({})._repr_png_().startswith(b"\x89PNG")


def test_saved_bytes_are_the_same_each_time(comparison: Comparison, tmp_path: Path) -> None:
    for name in ("a", "b"):
        plots.save(fall(comparison), tmp_path / name)
    for suffix in (".png", ".svg"):
        first, second = (tmp_path / f"{name}{suffix}" for name in ("a", "b"))
        assert first.read_bytes() == second.read_bytes()


def test_a_figure_looks_the_same_whatever_is_set_around_it(comparison: Comparison) -> None:
    images = [fall(comparison)._repr_png_()]
    with matplotlib.rc_context({"font.size": 20, "ytick.left": False}):
        images.append(fall(comparison)._repr_png_())
    assert images[0] == images[1]


# --- scoreboard ----------------------------------------------------------------------------------


def test_scoreboard_has_a_panel_a_system_and_unit() -> None:
    rows = [score(5, 6), score(5, 9), score(1, 2, unit="% gain"), score(4, 4, fitted=True)]
    figure = plots.scoreboard({"vmap": rows, "blk": [score(1, 1, fitted=True)]})
    assert [axes.get_title() for axes in figure.axes] == [
        "vmap, pps\n0 of 2 predicted inside 90 %",
        "vmap, % gain\n0 of 1 predicted inside 90 %",
        "blk, pps\nall fitted",
    ]
    assert [axes.get_xscale() for axes in figure.axes] == ["log", "linear", "log"]


def test_scoreboard_tells_fitted_from_predicted() -> None:
    (axes,) = plots.scoreboard({"a": [score(5, 6), score(7, 7, fitted=True)]}).axes
    marks = {
        line.get_marker(): line.get_ydata()[0] for line in axes.lines if len(line.get_xdata()) == 1
    }
    assert marks == {"o": 6, "s": 7}


def test_scoreboard_draws_each_interval() -> None:
    (axes,) = plots.scoreboard({"a": [score(5, 10)]}).axes
    assert list(axes.lines[0].get_ydata()) == [9, 11]


def test_scoreboard_counts_what_a_log_axis_cannot_show() -> None:
    figure = plots.scoreboard({"a": [score(5, 6), score(0, 1), score(2, -1), score(math.nan, 1)]})
    assert figure.notes == [
        "1 of 4 rows of a, pps not shown: no finite value",
        "2 of 4 rows of a, pps not shown: 0 or less on a log axis",
    ]
    assert all(note in figure.get_suptitle() for note in figure.notes)
    assert sum(len(line.get_xdata()) == 1 for line in figure.axes[0].lines) == 1


def test_scoreboard_shows_a_percent_below_zero() -> None:
    figure = plots.scoreboard({"a": [score(-3, 1, unit="% pps"), score(0, 0, unit="% pps")]})
    assert figure.notes == []
    assert sum(len(line.get_xdata()) == 1 for line in figure.axes[0].lines) == 2


def test_scores_are_read_from_the_results() -> None:
    path = ROOT / "results" / "validation" / "table.csv"
    table, scores = read_table(path), plots.read_scores(path)
    assert [s.id for s in scores] == [row["id"] for row in table.rows]
    assert [s.fitted for s in scores] == [row["use"] == "calibrate" for row in table.rows]
    plots.scoreboard({"all": scores}).draw_without_rendering()


def test_median_error_leaves_fitted_rows_and_percents_out() -> None:
    rows = [score(100, 110), score(100, 80), score(1, 9, fitted=True), score(1, 9, unit="%")]
    assert plots.median_error_percent(rows) == pytest.approx(15)
    assert math.isnan(plots.median_error_percent([]))


# --- waterfall -----------------------------------------------------------------------------------


def bars(axes: Axes) -> list[float]:
    return [patch.get_width() for patch in axes.patches]


def test_waterfall_adds_up(comparison: Comparison) -> None:
    (axes,) = fall(comparison).axes
    assert sum(bars(axes)) == pytest.approx(comparison.delta_ns, abs=1e-9)


def test_waterfall_names_both_ends_and_their_time(comparison: Comparison) -> None:
    (axes,) = fall(comparison).axes
    labels = [label.get_text() for label in axes.get_yticklabels()]
    assert (labels[0], *labels[-2:]) == ("user", "all else", "mapped")
    assert texts(axes)[0] == f"{comparison.a.busy_ns_per_packet():.0f} ns"
    assert texts(axes)[-1] == f"{comparison.b.busy_ns_per_packet():.0f} ns"


def test_waterfall_of_a_table_is_that_of_its_comparison(comparison: Comparison) -> None:
    rows = [
        {
            "step": r.step,
            "cost": r.cost,
            "a": repr(float(r.a_ps) / 1000),
            "b": repr(float(r.b_ps) / 1000),
        }
        for r in comparison.rows
    ]
    falls = plots.Falls.of_rows(rows, before="a", after="b")
    (read,) = plots.waterfall({"a": falls}, before="user", after="mapped", title="T").axes
    (own,) = fall(comparison).axes
    assert bars(read) == pytest.approx(bars(own), abs=1e-6)


def test_waterfall_of_another_core(comparison: Comparison) -> None:
    guest = vl.compare(comparison.a, comparison.b, core="guest")
    (axes,) = fall(guest).axes
    assert texts(axes)[0] == f"{guest.a.busy_ns_per_packet('guest'):.0f} ns"


def test_waterfall_shows_bars_that_rise_above_the_time_before() -> None:
    costs = {"send": (0.0, 50.0), "used": (80.0, 10.0)}
    rows = [
        {"step": s, "cost": "plain_access", "a": str(a), "b": str(b)} for s, (a, b) in costs.items()
    ]
    falls = plots.Falls.of_rows(rows, before="a", after="b")
    (axes,) = plots.waterfall({"a": falls}, before="x", after="y", title="T").axes
    assert axes.patches[0].get_x() + axes.patches[0].get_width() == 130
    left, right = axes.get_xlim()
    assert left < 60 < 130 <= right


def test_waterfall_without_a_difference(comparison: Comparison) -> None:
    (axes,) = fall(vl.compare(comparison.a, comparison.a)).axes
    assert "none" in texts(axes)


# --- heat map ------------------------------------------------------------------------------------

GAINS = {(64, 1): -2.0, (64, 16): 5.0, (1514, 1): -3.0, (1514, 16): -1.0}


def heat_map(grid: dict[tuple[float, float], float], **options: object) -> plots.SimulatedFigure:
    axes = {"title": "T", "xlabel": "x", "ylabel": "y", "label": "gain"}
    return plots.heat_map({"a": grid}, **(axes | options))


def test_heat_map_has_each_value_in_its_cell() -> None:
    axes = heat_map(GAINS).axes[0]
    found = {text.get_position(): text.get_text() for text in axes.texts}
    assert found == {(0, 0): "-2", (0, 1): "5", (1, 0): "-3", (1, 1): "-1"}
    assert [label.get_text() for label in axes.get_yticklabels()] == ["1", "16"]


def test_a_zero_has_no_sign() -> None:
    assert texts(heat_map({(1, 1): -0.2}).axes[0]) == ["0"]


def test_the_boundary_runs_around_the_cells_above_it() -> None:
    axes = heat_map(GAINS, boundary=0).axes[0]
    edges = {(*map(float, line.get_xdata()), *map(float, line.get_ydata())) for line in axes.lines}
    assert edges == {(0.5, 0.5, 0.5, 1.5), (-0.5, 0.5, 0.5, 0.5)}


@pytest.mark.parametrize(("boundary", "title"), [(9, "a: none above 9"), (-9, "a: all above -9")])
def test_a_boundary_that_no_cell_crosses_is_said(boundary: float, title: str) -> None:
    axes = heat_map(GAINS, boundary=boundary).axes[0]
    assert (axes.get_title(), len(axes.lines)) == (title, 0)


def test_a_value_on_the_boundary_is_not_above_it() -> None:
    axes = heat_map({(1, 1): 0.0, (2, 1): 1.0}, boundary=0).axes[0]
    assert len(axes.lines) == 1


def test_heat_map_counts_and_hatches_what_it_cannot_show() -> None:
    figure = heat_map({(1, 1): 10.0, (1, 2): 0.0, (2, 1): -1.0}, log=True)
    assert figure.notes == [
        "1 of 4 cells of a not shown: no finite value",
        "2 of 4 cells of a not shown: 0 or less on a log axis",
    ]
    axes = figure.axes[0]
    assert sum(patch.get_hatch() is not None for patch in axes.patches) == 3
    assert texts(axes) == ["10"]


def test_no_boundary_beside_a_cell_without_a_value() -> None:
    axes = heat_map({(1, 1): -1.0, (2, 1): math.nan, (3, 1): 1.0}, boundary=0).axes[0]
    assert len(axes.lines) == 0


@pytest.mark.parametrize("log", [False, True])
@pytest.mark.parametrize("boundary", [None, 5])
def test_cells_that_are_all_alike(log: bool, boundary: float | None) -> None:
    figure = heat_map({(1, 1): 5.0, (2, 1): 5.0}, log=log, boundary=boundary)
    figure.draw_without_rendering()
    assert texts(figure.axes[0]) == ["5", "5"]


def test_panels_have_one_scale_of_colours() -> None:
    figure = plots.heat_map(
        {"a": {(1, 1): 1.0}, "b": {(1, 1): 5.0}}, title="T", xlabel="x", ylabel="y", label="z"
    )
    assert [axes.images[0].get_clim() for axes in figure.axes[:2]] == [(1, 5), (1, 5)]


# --- batch sweep ---------------------------------------------------------------------------------


def test_batch_sweep_has_values_intervals_and_published_ones() -> None:
    point = plots.BatchPoint(batch=64, value=3.0, low=2.0, high=4.0, published=3.5, fitted=True)
    (axes,) = plots.batch_sweep({"tx": [point]}, title="T", ylabel="ns").axes
    legend = [text.get_text() for text in axes.get_legend().get_texts()]
    assert legend == ["tx", "published", "90 % interval", "fitted"]
    assert [list(line.get_ydata()) for line in axes.lines] == [[3.0], [3.0], [2.0, 4.0], [3.5]]


def test_batch_sweep_counts_what_its_axes_cannot_show() -> None:
    points = [plots.BatchPoint(batch=b, value=v) for b, v in ((0, 5.0), (1, 0.0), (4, 3.0))]
    figure = plots.batch_sweep({"tx": points}, title="T", ylabel="ns", log=True)
    assert figure.notes == [
        "1 of 3 batches of tx not shown: 0 or less on a log axis",
        "1 of 3 values of tx not shown: 0 or less on a log axis",
    ]
    assert list(figure.axes[0].lines[0].get_xdata()) == [4]


@pytest.mark.parametrize("field", ["value", "low", "high", "published"])
def test_a_point_that_is_not_finite_is_counted(field: str) -> None:
    values = {"value": 2.0, "low": 1.0, "high": 3.0, "published": 2.0} | {field: math.inf}
    figure = plots.batch_sweep(
        {"tx": [plots.BatchPoint(batch=1, **values)]}, title="T", ylabel="ns"
    )
    assert figure.notes == ["1 of 1 values of tx not shown: no finite value"]
    assert texts(figure.axes[0]) == ["no data"]


def test_a_value_of_zero_is_shown_on_a_linear_axis() -> None:
    points = [plots.BatchPoint(batch=1, value=-2.0), plots.BatchPoint(batch=4, value=0.0)]
    figure = plots.batch_sweep({"tx": points}, title="T", ylabel="gain, %")
    assert figure.notes == []
    assert list(figure.axes[0].lines[0].get_ydata()) == [-2, 0]


# --- latency -------------------------------------------------------------------------------------


def test_latency_has_four_shares_and_says_how_exact_they_are() -> None:
    (axes,) = plots.latency_cdf({"a": latency(1, 2, 4, 8)}).axes
    assert list(axes.lines[0].get_xdata()) == [1, 2, 4, 8]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["50 %", "90 %", "99 %", "all"]
    assert "1/32" in axes.get_xlabel()


def test_latency_of_a_run() -> None:
    run = vl.run(vl.Scenario(packets=1000))
    (axes,) = plots.latency_cdf({"a": run}).axes
    assert axes.lines[0].get_xdata()[-1] == run.latency.max_ps / 1e6


def test_a_latency_of_zero_is_counted() -> None:
    figure = plots.latency_cdf({"a": latency(0, 0, 4, 8)})
    assert figure.notes == ["2 of 4 quantiles of a not shown: 0 or less on a log axis"]
    assert list(figure.axes[0].lines[0].get_ydata()) == [2, 3]


def test_latencies_that_are_all_zero() -> None:
    figure = plots.latency_cdf({"a": latency(0, 0, 0, 0)})
    assert figure.notes == ["4 of 4 quantiles of a not shown: 0 or less on a log axis"]
    assert texts(figure.axes[0]) == ["no data"]


def test_style_does_not_leak() -> None:
    before = Figure().subplots().spines["right"].get_visible()
    plots.latency_cdf({})
    assert Figure().subplots().spines["right"].get_visible() is before is True
