"""The files of a sweep: what stands in them, what is refused, and who may write."""

import errno
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import vringlab as vl
from vringlab import cli
from vringlab.results import ResultsError
from vringlab.sweeps.folder import Folder

BASE = vl.Scenario(packets=100)
OVER = {"batch": [1, 8], "plan": ["user", "vmap"], "ring_size": [3, 64]}
DOC = Path(__file__).parents[2] / "docs" / "sweeps.md"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A finished sweep in three parts."""
    path = tmp_path / "sweep"
    vl.sweep(BASE, OVER, out=path, batch=3)
    return path


def parts(folder: Path) -> list[Path]:
    return sorted((folder / "parts").iterdir())


# --- what stands in them --------------------------------------------------------------------------


def test_files_of_a_sweep(folder: Path) -> None:
    names = sorted(p.name for p in folder.iterdir())
    assert names == ["lock", "manifest.json", "parts", "points.parquet"]
    assert sorted(pq.read_metadata(p).num_rows for p in parts(folder)) == [2, 3, 3]
    for path in (*parts(folder), folder / "points.parquet"):
        about = pq.read_schema(path).metadata
        assert about[b"vringlab.schema"] == b"1"
        assert about[b"vringlab.version"].decode() == vl.version
        assert about[b"vringlab.figures"] == b"simulated"


def test_the_manifest_says_what_was_swept(folder: Path) -> None:
    manifest = vl.open_results(folder).manifest
    assert manifest.sweep is not None
    assert manifest.sweep["base"] == json.loads(json.dumps(BASE.to_dict()))
    assert manifest.sweep["over"]["batch"] == [1, 8]
    assert manifest.sweep["points"] == 8
    assert sorted(manifest.data) == [*(f"parts/{p.name}" for p in parts(folder)), "points.parquet"]
    assert {"commit", "dirty", "compiler", "kernel", "wall_seconds"} <= set(manifest.maker)
    assert manifest.command
    assert vl.open_results(folder).base == BASE


def test_what_was_not_measured_is_null(folder: Path) -> None:
    table = vl.open_results(folder).to_arrow()
    failed = [status == "failed" for status in table["status"].to_pylist()]
    assert sum(failed) == 4
    for name in table.column_names:
        column = table[name].to_pylist()
        if pa.types.is_floating(table.schema.field(name).type):
            assert not any(value is not None and np.isnan(value) for value in column)
        if name.startswith(("blk_", "dma_")):
            assert column == [None] * 8
        elif name not in ("key", "status", "error", *OVER):
            assert [value is None for value in column] == failed


def test_whole_numbers_stay_exact_in_pandas(folder: Path) -> None:
    results = vl.open_results(folder)
    hashes = results.to_arrow()["guest_memory_hash"].to_pylist()
    assert max(filter(None, hashes)) > 2**53
    column = results.to_pandas()["guest_memory_hash"]
    assert [
        None if missing else int(value)
        for value, missing in zip(column, column.isna(), strict=True)
    ] == hashes


def test_frames_are_all_rows_a_part_at_a_time(folder: Path) -> None:
    results = vl.open_results(folder)
    frames = list(results.frames(["key", "batch"]))
    assert sorted(len(frame) for frame in frames) == [2, 3, 3]
    keys = [key for frame in frames for key in frame["key"]]
    assert sorted(keys) == sorted(results.to_pandas(["key"])["key"])


def test_columns_are_chosen_by_name(folder: Path) -> None:
    results = vl.open_results(folder)
    assert results.to_arrow(["rate_pps", "batch"]).column_names == ["rate_pps", "batch"]
    assert tuple(results.to_arrow().column_names) == results.columns
    with pytest.raises(ValueError, match=r'^columns: "speed": must be among key, batch, '):
        results.to_pandas(["speed"])


def test_xarray(folder: Path) -> None:
    grid = vl.open_results(folder).to_xarray()
    assert dict(grid.sizes) == {"batch": 2, "plan": 2, "ring_size": 2}
    assert int(grid["sent_packets"].sel(batch=8, plan="vmap", ring_size=64)) == 100
    assert np.isnan(grid["rate_pps"].sel(batch=8, plan="vmap", ring_size=3))
    over = {"batch": vl.Range(1, 64)}
    drawn = vl.sweep(BASE, over, method="lhs", n=5).to_xarray(["rate_pps"])
    assert (dict(drawn.sizes), sorted(drawn.coords), list(drawn)) == (
        {"point": 5},
        ["batch", "point"],
        ["rate_pps"],
    )


def test_the_documented_query_of_duckdb(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    duckdb = pytest.importorskip("duckdb")
    monkeypatch.chdir(tmp_path)
    results = vl.sweep(BASE, {"batch": [1, 8], "plan": ["user", "vmap"]}, out="sweep")
    query = DOC.read_text().partition("```sql\n")[2].partition("```")[0]
    rows = duckdb.connect().execute(query).fetchall()
    best = results.to_pandas().groupby("batch", sort=True)["rate_pps"].max()
    assert [(batch, mpps) for batch, mpps, *_ in rows] == [
        (batch, pytest.approx(rate / 1e6)) for batch, rate in best.items()
    ]


# --- what is refused ------------------------------------------------------------------------------


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-20])


def emptied(path: Path) -> None:
    path.write_bytes(b"")


def flipped(path: Path) -> None:
    flip(path, 40)


def flip(path: Path, place: int) -> None:
    data = bytearray(path.read_bytes())
    data[place] ^= 0xFF
    path.write_bytes(data)


def other(path: Path) -> None:
    pq.write_table(pa.table({"key": ["x"]}), path)


def newer(path: Path) -> None:
    table = pq.read_table(path)
    pq.write_table(table.replace_schema_metadata({"vringlab.schema": "2"}), path)


def without_keys(path: Path) -> None:
    pq.write_table(pq.read_table(path).drop_columns(["key"]), path)


DAMAGES: dict[Callable[[Path], None], str] = {
    cut: "not a readable Parquet file: ",
    emptied: "not a readable Parquet file: ",
    flipped: "",
    other: "not a file of a sweep: it states no schema",
    newer: "schema 2 is newer than 1, the newest that this version reads",
    without_keys: "no column key: ",
    Path.unlink: "is missing",
}


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__)
@pytest.mark.parametrize("which", ["points", "part"])
def test_broken_files_are_named(folder: Path, which: str, damage: Any) -> None:
    path = folder / "points.parquet" if which == "points" else parts(folder)[1]
    damage(path)
    with pytest.raises(ResultsError) as error:
        vl.open_results(folder).to_arrow()
    assert str(error.value).startswith(f"{path}: {DAMAGES[damage]}")


def test_any_byte_that_changed_is_noticed(folder: Path) -> None:
    path = parts(folder)[0]
    whole = path.read_bytes()
    for place in range(0, len(whole), len(whole) // 40):
        flip(path, place)
        with pytest.raises(ResultsError, match=f"^{path}: "):
            vl.open_results(folder)
        path.write_bytes(whole)


def test_bytes_that_changed_are_noticed_before_a_sweep_is_over(folder: Path) -> None:
    """There is no manifest that has the file's hash, but pages have checksums."""
    change(folder, data={})
    path = parts(folder)[0]
    group = pq.read_metadata(path).row_group(0)
    columns = {group.column(i).path_in_schema: group.column(i) for i in range(group.num_columns)}
    keys = columns["key"]
    flip(path, keys.data_page_offset + keys.total_compressed_size - 2)
    with pytest.raises(ResultsError, match=f"^{path}: not a readable Parquet file: "):
        vl.open_results(folder).to_arrow()


def test_a_broken_part_stops_a_sweep_and_nothing_is_lost(folder: Path) -> None:
    broken = parts(folder)[0]
    cut(broken)
    with pytest.raises(ResultsError, match=f"^{broken}: not a readable Parquet file"):
        vl.sweep(BASE, OVER, out=folder)
    assert len(parts(folder)) == 3
    broken.unlink()
    assert not vl.sweep(BASE, OVER, out=folder).missing


def change(folder: Path, **fields: Any) -> None:
    path = folder / "manifest.json"
    manifest = json.loads(path.read_text())
    manifest["sweep"] |= fields.pop("sweep", {})
    path.write_text(json.dumps(manifest | fields))


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"schema": 2}, "schema 2 is newer than 1, the newest that this version reads"),
        ({"sweep": {"schema": 2}}, "schema 2 is newer than 1, the newest that this version reads"),
        ({"sweep": {"schema": None}}, "sweep states no schema"),
        ({"sweep": {"base": 3}}, "sweep.base must be a dict"),
        ({"sweep": {"over": []}}, "sweep.over must be a dict"),
        ({"extra": 1}, "must be an object with command, "),
    ],
)
def test_bad_manifests_are_named(folder: Path, fields: dict[str, Any], message: str) -> None:
    change(folder, **fields)
    for use in (vl.open_results, lambda path: vl.sweep(BASE, OVER, out=path)):
        with pytest.raises(ResultsError) as error:
            use(folder)
        assert str(error.value).startswith(f"{folder}/manifest.json: {message}")


def test_folders_that_are_none(tmp_path: Path) -> None:
    with pytest.raises(ResultsError, match=r"none/manifest\.json: is missing: not a folder of a s"):
        vl.open_results(tmp_path / "none")
    (tmp_path / "manifest.json").write_text("{")
    with pytest.raises(ResultsError, match=r"manifest\.json: not JSON"):
        vl.open_results(tmp_path)
    (tmp_path / "file").write_text("")
    with pytest.raises(vl.SweepError, match=r"file: no folder to write to: File exists"):
        vl.sweep(BASE, OVER, out=tmp_path / "file")


def test_a_row_that_stands_there_twice_is_found(folder: Path) -> None:
    (folder / "parts" / "copy.parquet").write_bytes(parts(folder)[0].read_bytes())
    for use in (
        lambda path: vl.open_results(path).to_arrow(),
        lambda p: vl.sweep(BASE, OVER, out=p),
    ):
        with pytest.raises(ResultsError, match=r"parts: [0-9a-f]{64} stands there twice"):
            use(folder)


# --- who may write, and where there is no room ----------------------------------------------------


def test_a_folder_in_use_is_refused(folder: Path) -> None:
    hold = "import sys, pathlib; from vringlab.sweeps.folder import Folder\n"
    hold += "with Folder(pathlib.Path(sys.argv[1])): print('held', flush=True); sys.stdin.read()"
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", hold, folder], **pipes) as holder:  # type: ignore[call-overload]
        assert holder.stdout.readline() == b"held\n"
        with pytest.raises(vl.SweepError, match=f"^{folder}: in use by process {holder.pid}$"):
            vl.sweep(BASE, OVER, out=folder)
        assert len(vl.open_results(folder)) == 8
        holder.kill()
    assert not vl.sweep(BASE, OVER, out=folder).missing


def test_a_forked_process_does_not_hold_the_folder(folder: Path) -> None:
    read, write = os.pipe()
    ready, say_ready = os.pipe()
    with Folder(folder):
        child = os.fork()
        if not child:
            os.write(say_ready, b".")
            os.read(read, 1)
            os._exit(0)
        os.read(ready, 1)
    try:
        with Folder(folder):
            pass
    finally:
        os.write(write, b".")
        os.waitpid(child, 0)


def test_a_full_disk_keeps_what_was_finished(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sync, synced = os.fsync, []

    def full(handle: int) -> None:
        synced.append(handle)
        if len(synced) > 3:  # the points and two parts have room
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        sync(handle)

    monkeypatch.setattr(os, "fsync", full)
    expected = r"/parts/\w+\.parquet: can't be written: No space left on device; what was finished"
    with pytest.raises(vl.SweepError, match=expected):
        vl.sweep(BASE, OVER, out=tmp_path, batch=1, workers=1)
    assert len(vl.open_results(tmp_path)) == len(parts(tmp_path)) == 2
    assert not list(tmp_path.rglob("*.part"))
    monkeypatch.setattr(os, "fsync", sync)
    assert len(vl.sweep(BASE, OVER, out=tmp_path)) == 8


# --- the command ----------------------------------------------------------------------------------


@pytest.fixture
def command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Callable[[str], tuple[int, str, str]]:
    """Runs `vringlab sweep` in an empty folder: (exit code, output, errors)."""
    monkeypatch.chdir(tmp_path)

    def run(arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["vringlab", "sweep", *arguments.split()])
        with pytest.raises(SystemExit) as end:
            cli.main()
        assert isinstance(end.value.code, int)
        return end.value.code, *capfd.readouterr()

    return run


Command = Callable[[str], tuple[int, str, str]]
SET = "--set packets=100 --set batch=8 --out new"


def test_command_grid(command: Command) -> None:
    axes = "--over plan=user,vmap --over plan.guard=none,rcu --over event_idx=true,false"
    when = "--when plan.guard:plan=vmap --seeds 1,2"
    assert command(f"{SET} {axes} {when}") == (0, "simulated 12 points, 0 failed: new\n", "")
    over = {"plan": ["user", "vmap"], "plan.guard": ["none", "rcu"], "event_idx": [True, False]}
    conditions = {"plan.guard": {"plan": "vmap"}}
    base = BASE.replace(batch=8)
    same = vl.sweep(base, over, when=conditions, seeds=[1, 2])
    assert vl.open_results("new").to_arrow() == same.to_arrow()


def test_command_draws(command: Command) -> None:
    axes = "--over costs.smp_mb=10:40:log --over packet_bytes=64:1500"
    axes += " --over plan.mapped=desc+used,avail --method lhs --n 6 --seed 2 --workers 1"
    assert command(f"{SET} {axes}") == (0, "simulated 6 points, 0 failed: new\n", "")
    frame = vl.open_results("new").to_pandas()
    assert frame["costs.smp_mb"].between(10, 40).all()
    assert set(frame["plan.mapped"]) == {"desc,used", "avail"}


def test_command_with_failed_points(command: Command) -> None:
    code, output, errors = command(f"{SET} --over ring_size=3,4,5")
    assert (code, errors) == (1, "")
    lines = output.splitlines()
    assert lines[0] == "simulated 3 points, 2 failed: new"
    assert [line.partition(": ")[2] for line in lines[1:]] == [
        f"ring_size = {size}: must be a power of two between 2 and 32768" for size in (3, 5)
    ]
    assert command(f"{SET} --over ring_size=3,4,5 --retry-failed")[0] == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("--over bach=1", 'over: axis "bach": a scenario has no such field: did you mean batch'),
        ("--over batch", 'over = "batch": must be FIELD=VALUES'),
        ("--over batch=x", 'batch = "x": must be whole numbers'),
        ("--over event_idx=2", 'event_idx = "2": must be true or false'),
        ("--over nic_pps=1:2:lin", 'nic_pps = "1:2:lin": must be LOW:HIGH or LOW:HIGH:log'),
        ("--over costs=1", 'over = "costs=1": must be a member of it, as in costs.NAME'),
        ("--over batch=1 --when batch", 'when = "batch": must be AXIS:FIELD=VALUES'),
        ("--over batch=1 --seeds a", 'seeds = "a": must be whole numbers'),
    ],
)
def test_bad_commands(command: Command, arguments: str, message: str) -> None:
    code, output, errors = command(f"{SET} {arguments}")
    assert (code, output) == (2, "")
    assert errors.startswith(f"vringlab: {message}")
    assert errors.count("\n") == 1
