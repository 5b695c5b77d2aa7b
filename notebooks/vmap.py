# %% [markdown]
# # vmap: direct access to the ring's metadata
#
# vhost reads and writes indices, ring entries and descriptors in guest memory. By user access each
# one toggles SMAP, checks the address and waits at a speculation barrier. A series of patches
# (2018, 2019) mapped the ring once instead. How much did it gain, where, and were the objections
# right? Everything here is **simulated** unless it is called published; it reads `results/vmap` and
# `results/vmap_claims`.

# %%
from pathlib import Path

import pandas as pd
from vringlab import plots
from vringlab.results import read_table

pd.set_option("display.max_colwidth", None)
VMAP, CLAIMS = Path("../results/vmap"), Path("../results/vmap_claims")

# %% [markdown]
# ## Published and simulated
#
# The rates before the patches with SMAP on were fitted. All others are predicted from costs alone.

# %%
plots.scoreboard({"vmap": plots.read_scores(VMAP / "table.csv")}, title="Direct access, 64 bytes")

# %%
table = pd.read_csv(VMAP / "table.csv", index_col="id")
table["error, %"] = 100 * (table.predicted / table.published - 1)
table[["unit", "published", "predicted", "low", "high", "use", "error, %"]].round(2)

# %% [markdown]
# With SMAP off both rates are predicted too low. The gain between them is about right, so what is
# missing is in both: something else than toggles got cheaper on that machine, and nobody published
# what.
#
# ## Where the time goes
#
# Without SMAP there is less to save: only barriers, checks and calls.

# %%
rows = [row for row in read_table(VMAP / "waterfall.csv").rows if row["host"] == "broadwell-2.6"]
kernels = {"v5.0": "SMAP on", "v5.0-nosmap": "SMAP off"}
falls = {
    title: plots.Falls.of_rows(
        [row for row in rows if row["kernel"] == kernel], before="user_ns", after="mapped_ns"
    )
    for kernel, title in kernels.items()
}
plots.waterfall(
    falls, before="user access", after="mapped", title="What a mapping saves of a packet"
)

# %% [markdown]
# ## The argument
#
# While the patches were discussed, author and reviewers made claims. Each is tested with every cost
# row at both ends of its range. *holds* and *does not hold* are said only where no row within its
# range turns the answer; otherwise it *depends*.

# %%
claims = pd.read_csv(CLAIMS / "claims.csv", index_col="claim")
claims[["who", "statement", "value", "low", "high", "unit", "verdict"]].round(1)

# %% [markdown]
# What a claim hangs on is worth as much as the verdict. These rows turn "direct access gains about
# a fifth" within their own range, so measure them before you argue:

# %%
flips = pd.read_csv(CLAIMS / "flips.csv")
inside = flips[(flips.claim == "a.packets") & (flips.inside == "yes")]
inside[["row", "unit", "row_low", "row_best", "row_high", "flips_below", "flips_above"]].astype(
    object
).fillna("")

# %% [markdown]
# ## A decision: serve packets at the kick?
#
# A reviewer proposed to let the kick itself serve a few packets, so that nobody has to be woken. It
# cuts the median latency at every load. But each packet served so is the device's work on the
# guest's core, which then can't send: beyond the line at least 1 % of the rate is lost.

# %%
kick = pd.read_csv(CLAIMS / "f.csv").query("arrival == 'poisson'")


def change(column):
    """In percent of what it is without packets at the kick; by load and packets."""
    by_load = kick.pivot(index="offered_pps", columns="inline_packets", values=column)
    percent = 100 * (by_load.div(by_load[0], axis=0) - 1)
    cells = percent.drop(columns=0).stack().items()
    return {(f"{pps / 1e6:g}", str(served)): value for (pps, served), value in cells}


KNOBS = {"xlabel": "million packets a second offered", "ylabel": "packets served at the kick"}
plots.heat_map(
    {"a virtual machine sends one by one": change("rate_pps")},
    title="Rate, by packets served at the kick",
    label="change of the rate, %",
    boundary=-1,
    **KNOBS,
)

# %%
plots.heat_map(
    {"a virtual machine sends one by one": change("latency_p50_us")},
    title="Median latency, by packets served at the kick",
    label="change of the median, %",
    **KNOBS,
)
