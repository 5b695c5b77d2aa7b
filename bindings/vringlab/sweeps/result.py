"""The results of a sweep, read from its folder when they are asked for."""

import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from vringlab.access_plan import AccessPlan
from vringlab.blk import Blk
from vringlab.results import Manifest, ResultsError, hash_of
from vringlab.scenario import Scenario
from vringlab.sweeps.batch import FAILED, FIGURES, RATIOS
from vringlab.sweeps.files import columns_of, opened, read_parquet
from vringlab.sweeps.folder import PARTS, POINTS, Keys, among, keys_in
from vringlab.sweeps.manifest import read_sweep_manifest
from vringlab.sweeps.points import scenario_of


def open_results(path: str | os.PathLike[str]) -> "SweepResult":
    """Opens the folder of a sweep, one that is still under way or was killed too.

    ResultsError names the file that is broken, missing or of a newer schema. Nothing in a folder is
    ever executed: it holds Parquet and JSON only.

    >>> import tempfile, vringlab as vl
    >>> folder = tempfile.mkdtemp()
    >>> _ = vl.sweep(vl.Scenario(packets=100), {"batch": [1, 2]}, out=folder)
    >>> open_results(folder).to_pandas()[["batch", "sent_packets"]]
       batch  sent_packets
    0      1           100
    1      2           100
    """
    return SweepResult(Path(path))


class SweepResult:
    """Results of a sweep: a row a point, in the order of the sweep. All figures are simulated.

    Only keys are read until a table is asked for. A row has the point's `key`, the axes, `status`
    ("ok" or "failed"), `error`, and the figures of a `Result`: null where one was not measured.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.manifest: Manifest = read_sweep_manifest(path)
        self._about: dict[str, Any] = self.manifest.sweep or {}
        self._check_files()
        self._keys: Keys = keys_in([path / POINTS])
        self._rows, self._failed = self._counts()
        self._check_hashes()

    def __len__(self) -> int:
        """Rows: points that were run."""
        return self._rows

    @property
    def points(self) -> int:
        """Points of the sweep, run or not."""
        return len(self._keys)

    @property
    def missing(self) -> int:
        """Points that were not run yet."""
        return self.points - len(self)

    @property
    def failed(self) -> int:
        """Points that were refused or went wrong; their rows say why."""
        return self._failed

    @property
    def axes(self) -> tuple[str, ...]:
        """What was swept."""
        return tuple(self._about["over"])

    @property
    def columns(self) -> tuple[str, ...]:
        """Of the table, in its order."""
        return ("key", *self.axes, "status", "error", *self._figures())

    @property
    def base(self) -> Scenario:
        """What all points have in common."""
        fields = self._about["base"]
        plan, blk = AccessPlan(**fields["plan"]), Blk(**fields["blk"])
        return Scenario(**(fields | {"plan": plan, "blk": blk}))

    def to_arrow(self, columns: Sequence[str] | None = None) -> Any:
        """These columns, or all, as a pyarrow.Table.

        >>> import vringlab as vl
        >>> results = vl.sweep(vl.Scenario(packets=100), {"batch": [1, 2]})
        >>> results.to_arrow(["batch"]).to_pydict()
        {'batch': [1, 2]}
        """
        import pyarrow as pa

        wanted = self._checked(columns)
        read = list(dict.fromkeys(["key", *wanted]))
        tables = [read_parquet(path, read) for path in self._parts()]
        if not tables:
            return pa.table({name: pa.nulls(0) for name in wanted})
        table = pa.concat_tables(tables)
        return table.take(pa.array(self._order(table["key"]))).select(wanted)

    def to_pandas(self, columns: Sequence[str] | None = None) -> Any:
        """These columns, or all, as a pandas.DataFrame.

        Numbers have pandas' own types with a null (UInt64, Float64): whole ones stay exact.

        >>> import vringlab as vl
        >>> results = vl.sweep(vl.Scenario(packets=100), {"batch": [1, 2]})
        >>> bool(results.to_pandas()["blk_requests"].isna().all())
        True
        """
        return _frame(self.to_arrow(columns))

    def frames(self, columns: Sequence[str] | None = None) -> Iterator[Any]:
        """The same a part at a time, in no certain order: for sweeps larger than memory.

        >>> import vringlab as vl
        >>> results = vl.sweep(vl.Scenario(packets=100), {"batch": [1, 2, 4]}, batch=2)
        >>> sorted(len(frame) for frame in results.frames())
        [1, 2]
        """
        import pyarrow as pa

        wanted = self._checked(columns)
        read = list(dict.fromkeys(["key", *wanted]))
        for path in self._parts():
            table = read_parquet(path, read)
            table = table.filter(pa.array(among(self._keys, table["key"]))).select(wanted)
            if len(table):
                yield _frame(table)

    def to_xarray(self, columns: Sequence[str] | None = None) -> Any:
        """The numbers as an xarray.Dataset; a null is a NaN there.

        A whole grid has a dimension an axis, all else has one dimension, "point".

        >>> import vringlab as vl
        >>> over = {"batch": [1, 2], "packet_bytes": [64, 128, 256]}
        >>> dict(vl.sweep(vl.Scenario(packets=100), over).to_xarray().sizes)
        {'batch': 2, 'packet_bytes': 3}
        """
        wanted = [name for name in self._checked(columns) if name in self._figures()]
        frame = self.to_pandas([*self.axes, *wanted])
        frame = frame.assign(**{name: _plain(frame[name]) for name in frame})
        if self._is_whole_grid(frame):
            return frame.set_index(list(self.axes)).to_xarray()
        return frame.rename_axis("point").to_xarray().set_coords(list(self.axes))

    def scenario(self, key: str) -> Scenario:
        """The scenario of the point with this key: run it for its ledger.

        ValueError says why the simulator refuses it, if it does.

        >>> import vringlab as vl
        >>> results = vl.sweep(vl.Scenario(packets=100), {"batch": [1, 2]})
        >>> results.scenario(results.to_pandas()["key"][1])
        Scenario(packets=100, batch=2)
        """
        import pyarrow.compute as pc

        table = read_parquet(self.path / POINTS, ["key", "changes"])
        found = table.filter(pc.equal(table["key"], key))["changes"].to_pylist()
        if not found:
            raise ValueError(f'key = "{key:.80}": there is no such point')
        return scenario_of(self.base, json.loads(found[0]))

    def errors(self) -> list[tuple[str, str]]:
        """Key and message of each point that failed, in order.

        >>> import vringlab as vl
        >>> results = vl.sweep(vl.Scenario(packets=100), {"ring_size": [3, 4]})
        >>> [message for key, message in results.errors()]
        ['ring_size = 3: must be a power of two between 2 and 32768']
        """
        rows = self.to_arrow(["key", "status", "error"]).to_pylist()
        return [(row["key"], row["error"]) for row in rows if row["status"] == FAILED]

    def __repr__(self) -> str:
        counts = f"{len(self)} of {self.points} points, {self.failed} failed"
        return f"SweepResult({counts}, simulated, over {', '.join(self.axes)})"

    def _parts(self) -> list[Path]:
        return sorted((self.path / PARTS).glob("*.parquet"))

    def _check_files(self) -> None:
        for name in self.manifest.data:
            if not (self.path / name).is_file():
                raise ResultsError(f"{self.path / name}: is missing")

    def _check_hashes(self) -> None:
        """Of a sweep that is over: checksums of pages leave their headers out."""
        for name, expected in self.manifest.data.items():
            if hash_of(self.path / name) != expected:
                raise ResultsError(f"{self.path / name}: is not as it was written")

    def _counts(self) -> tuple[int, int]:
        """How many rows are of this sweep, and how many of those failed."""
        import pyarrow.compute as pc

        rows = failed = 0
        for path in self._parts():
            with opened(path, ("key", "status")) as file:
                table = file.read(columns=["key", "status"])
                mine = among(self._keys, table["key"])
                rows += int(mine.sum())
                failed += int(mine[pc.equal(table["status"], FAILED).to_numpy()].sum())
        return rows, failed

    def _figures(self) -> list[str]:
        """Columns of results that the parts have: those of the version that wrote them."""
        parts = self._parts()
        if not parts:
            return [*RATIOS, *FIGURES]
        others = {"key", "status", "error", *self.axes}
        return [name for name in columns_of(parts[0]) if name not in others]

    def _checked(self, columns: Sequence[str] | None) -> list[str]:
        known = self.columns
        for name in columns or ():
            if name not in known:
                raise ValueError(f'columns: "{name}": must be among {", ".join(known)}')
        return list(known if columns is None else columns)

    def _order(self, keys: Any) -> Any:
        """Where in the parts the rows of the sweep are, in its order."""
        import pandas as pd

        there = pd.Index(keys.to_pylist())
        if not there.is_unique:
            twice = there[there.duplicated()][0]
            raise ResultsError(f"{self.path / PARTS}: {twice} stands there twice")
        wanted = read_parquet(self.path / POINTS, ["key"])["key"].to_pylist()
        places = there.get_indexer(pd.Index(wanted))
        return places[places >= 0]

    def _is_whole_grid(self, frame: Any) -> bool:
        axes = frame[list(self.axes)]
        sizes = int(np.prod([axes[name].nunique() for name in self.axes]))
        whole = sizes == len(frame) and not axes.isna().any().any()
        return whole and self._about.get("method") == "grid"


def _frame(table: Any) -> Any:
    import pandas as pd
    import pyarrow as pa

    types = {
        pa.uint64(): pd.UInt64Dtype(),
        pa.float64(): pd.Float64Dtype(),
        pa.bool_(): pd.BooleanDtype(),
    }
    return table.to_pandas(types_mapper=types.get)


def _plain(column: Any) -> Any:
    """The column without a type of pandas' own: a float with NaNs where there are nulls."""
    dtype = getattr(column.dtype, "numpy_dtype", None)
    if dtype is None:
        return column
    return column.to_numpy(float, na_value=np.nan) if column.hasnans else column.astype(dtype)
