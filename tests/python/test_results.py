"""Files of results: written the same everywhere, read defensively. Published values."""

import hashlib
import math
import subprocess
from pathlib import Path

import numpy as np
import pytest
import vringlab as vl
from vringlab.published import Published, load_published
from vringlab.results import (
    ResultsError,
    files_of,
    read_manifest,
    read_table,
    write_manifest,
    write_table,
)

# --- tables ---------------------------------------------------------------------------------------


def test_bytes_of_a_table(tmp_path: Path) -> None:
    path = tmp_path / "new" / "table.csv"
    rows = [
        ("a", 1, 0.1 + 0.2, None),
        ("b, c", 2**70, -0.0, True),
        ('d"e', np.int64(3), np.float64(1234567.8), ""),
        ("µ", -4, 1e-7, "x\ny"),
    ]
    write_table(path, ["name", "n", "x", "note"], rows)
    assert (
        path.read_bytes()
        == (
            "name,n,x,note\n"
            "a,1,0.3,\n"
            '"b, c",1180591620717411303424,0,True\n'
            '"d""e",3,1.23457e+06,\n'
            'µ,-4,1e-07,"x\ny"\n'
        ).encode()
    )
    assert [p.name for p in path.parent.iterdir()] == ["table.csv"]


def test_a_table_reads_as_it_was_written(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    write_table(path, ["name", "x"], [("a\nb", 1.5), ('"', None)])
    table = read_table(path, ["x"])
    assert (table.name, table.columns) == ("table.csv", ("name", "x"))
    assert table.rows == ({"name": "a\nb", "x": "1.5"}, {"name": '"', "x": ""})
    numbers = table.numbers("x")
    assert (numbers.shape, numbers.dtype, numbers[0]) == ((2,), np.float64, 1.5)
    assert math.isnan(numbers[1])
    assert repr(table) == "Table(table.csv: 2 rows of name, x)"


def test_a_table_without_rows(tmp_path: Path) -> None:
    write_table(tmp_path / "t.csv", ["x"], [])
    assert read_table(tmp_path / "t.csv").numbers("x").shape == (0,)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, np.float64("nan")])
def test_what_is_no_number_is_not_written(tmp_path: Path, value: float) -> None:
    with pytest.raises(ValueError, match=r"^t.csv: x = -?(nan|inf): must be finite"):
        write_table(tmp_path / "t.csv", ["x"], [(value,)])
    assert not (tmp_path / "t.csv").exists()


def test_a_row_of_another_length_is_not_written(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"^t.csv: a row of 1 cells, but 2 columns"):
        write_table(tmp_path / "t.csv", ["x", "y"], [(1,)])


BAD_TABLES = {
    "empty": (b"", "bad.csv: empty: a header is missing"),
    "column missing": (b"a,b\n1,2\n", "bad.csv, row 1: no column x: a, b"),
    "column twice": (b"x,x\n1,2\n", "bad.csv, row 1: a column stands there twice"),
    "short row": (b"x,y\n1,2\n3\n", "bad.csv, row 3: 1 cells: must be 2, as in the header"),
    "long row": (b"x\n1,2\n", "bad.csv, row 2: 2 cells: must be 1, as in the header"),
    "empty line": (b"x\n\n1\n", "bad.csv, row 2: 0 cells: must be 1"),
    "not UTF-8": (b"x\n\xff\n", "bad.csv: not UTF-8: invalid start byte at byte 2"),
    "open quote": (b'x\n"1\n', "bad.csv, line 2: unexpected end of data"),
    "text after a quote": (b'x\n"1"2\n', "bad.csv, line 2: "),
    "huge cell": (b"x\n" + b"1" * 200_000, "bad.csv, line 2: field larger than field limit"),
}


@pytest.mark.parametrize("name", BAD_TABLES)
def test_bad_tables(tmp_path: Path, name: str) -> None:
    data, message = BAD_TABLES[name]
    path = tmp_path / "bad.csv"
    path.write_bytes(data)
    with pytest.raises(ResultsError) as error:
        read_table(path, ["x"])
    assert str(error.value).startswith(message)


def test_files_of_other_systems_are_read(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(b"\xef\xbb\xbfx,y\r\n1,2\r\n")
    assert read_table(tmp_path / "t.csv", ["x"]).rows == ({"x": "1", "y": "2"},)


def test_no_such_file(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_table(tmp_path / "t.csv")


def test_bad_numbers(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("x\n1\n1,5\n".replace("1,5", "one"))
    table = read_table(tmp_path / "t.csv")
    with pytest.raises(ResultsError, match=r"^t.csv, row 3: x = 'one': must be a number"):
        table.numbers("x")
    with pytest.raises(ResultsError, match=r"^t.csv: no column y: x"):
        table.numbers("y")


# --- manifests ------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "results"
    write_table(folder / "table.csv", ["x"], [(1,)])
    (folder / "figure.png").write_bytes(b"\x89PNG")
    return folder


def test_manifest(folder: Path) -> None:
    written = write_manifest(folder, command="vringlab reproduce", seed=7, wall_seconds=1.26)
    assert read_manifest(folder) == written
    assert (written.version, written.seed) == (vl.version, 7)
    digest = hashlib.sha256(b"x\n1\n").hexdigest()
    assert written.data == {"table.csv": digest}  # no figure, not itself
    assert {*written.maker} == {
        "commit",
        "dirty",
        "compiler",
        "cpu",
        "kernel",
        "python",
        "wall_seconds",
    }
    assert written.maker["wall_seconds"] == 1.3
    assert (written.maker["commit"], written.maker["dirty"]) == (None, None)
    assert files_of(folder) == ["figure.png", "manifest.json", "table.csv"]


def test_manifest_of_a_checkout(folder: Path) -> None:
    def git(*arguments: str) -> str:
        identity = ["-c", "user.name=n", "-c", "user.email=e@example.org"]
        command = ["git", *identity, *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()

    git("init")
    git("commit", "--allow-empty", "--message", "first")
    maker = write_manifest(folder, command="c").maker
    assert (maker["commit"], maker["dirty"]) == (git("rev-parse", "HEAD"), False)  # but for results
    (folder.parent / "code.py").touch()
    assert write_manifest(folder, command="c").maker["dirty"] is True


def test_who_made_it_does_not_matter(folder: Path) -> None:
    first = write_manifest(folder, command="c", seed=1, wall_seconds=1)
    assert first.same_data(write_manifest(folder, command="c", seed=1, wall_seconds=2))
    assert not first.same_data(write_manifest(folder, command="c", seed=2, wall_seconds=1))
    (folder / "table.csv").write_text("x\n2\n")
    assert not first.same_data(write_manifest(folder, command="c", seed=1, wall_seconds=1))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "{}",
        "1",
        '"manifest"',
        "[" * 100_000,
        '{"version": "0", "command": "c", "seed": 0, "data": [], "maker": {}}',
        '{"version": "0", "command": "c", "seed": 0, "data": {}, "maker": {}, "more": 1}',
    ],
)
def test_bad_manifests(folder: Path, text: str) -> None:
    (folder / "manifest.json").write_text(text)
    with pytest.raises(ResultsError, match=r"^manifest.json: "):
        read_manifest(folder)


# --- published values -----------------------------------------------------------------------------

HEADER = "id,source,workload,host,variant,metric,unit,value,use,note\n"
GOOD = "a,s,w,h,v,rate,Mpps,5.0,calibrate,\n"


def test_published_values_of_the_package() -> None:
    rows = {row.id: row for row in load_published()}
    assert len(rows) == len(load_published()) > 100
    assert rows["vmap2019.smap_on.after"].value == 6.4
    assert {row.use for row in rows.values()} == {"calibrate", "predict"}


def test_published_values_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "p.csv"
    path.write_text(HEADER + GOOD)
    expected = Published("a", "s", "w", "h", "v", "rate", "Mpps", 5.0, "calibrate", "")
    assert load_published(path) == (expected,)
    assert repr(expected) == "Published(a: rate 5 Mpps, calibrate)"


BAD_PUBLISHED: dict[str, tuple[str, str]] = {
    "no header": (GOOD, "p.csv, row 1: no column id"),
    "id twice": (HEADER + GOOD + GOOD, 'p.csv, row 3: id = "a": must be given, and only once'),
    "no id": (HEADER + GOOD[1:], 'p.csv, row 2: id = "": must be given'),
    "no value": (HEADER + GOOD.replace("5.0", ""), "p.csv, row 2: value = nan: must be a finite"),
    "value inf": (HEADER + GOOD.replace("5.0", "inf"), "p.csv, row 2: value = inf: must be"),
    "value text": (HEADER + GOOD.replace("5.0", "5 M"), "p.csv, row 2: value = '5 M': must be a"),
    "use": (HEADER + GOOD.replace("calibrate", "fit"), 'p.csv, row 2: use = "fit": must be one of'),
    "short": (HEADER + GOOD.replace("s,w", "w"), "p.csv, row 2: 9 cells: must be 10"),
}


@pytest.mark.parametrize("name", BAD_PUBLISHED)
def test_bad_published_values(tmp_path: Path, name: str) -> None:
    text, message = BAD_PUBLISHED[name]
    path = tmp_path / "p.csv"
    path.write_text(text)
    with pytest.raises(ResultsError) as error:
        load_published(path)
    assert str(error.value).startswith(message)
