# %% [markdown]
# # A disk served inside the host's kernel
#
# In 2010 a prototype served virtio-blk inside the host's kernel. It read twice as fast as the VMM
# and wrote half as fast, and its author asked why. In 2022 the idea came back. Everything here is
# **simulated** unless it is called published; it reads `results/vhost_blk`.

# %%
from pathlib import Path

import pandas as pd
from vringlab import plots

BLK = Path("../results/vhost_blk")

# %% [markdown]
# ## Published and simulated
#
# The VMM of 2010 and the bare host of 2022 were fitted; both prototypes are predicted, and so is
# the VMM of 2022, whose random reads are the one clear miss.

# %%
plots.scoreboard({"vhost_blk": plots.read_scores(BLK / "table.csv")}, title="Block devices")

# %% [markdown]
# ## Why reads were twice as fast, and writes half as fast
#
# From the VMM to the prototype, one mechanism at a time; each line keeps those above it. Reads: one
# wrong character (sectors are shifted by 8, not by 9, so that every page is met twice, the second
# time in memory) does nearly all of it. Writes: each request waits for the platters alone, where
# the VMM had several under way or merged them.

# %%
ladder = pd.read_csv(BLK / "ladder.csv")
with plots.drawn("From a VMM to the prototype of 2010", (10, 3.4), plots.STYLE) as figure:
    for axes, (operation, own) in zip(
        figure.subplots(1, 2, sharey=True), ladder.groupby("operation"), strict=True
    ):
        before = own.us_per_io - own.difference_us
        colours = [plots.SAVED if d < 0 else plots.ADDED for d in own.difference_us]
        axes.barh(range(1, len(own)), own.difference_us[1:], left=before[1:], color=colours[1:])
        axes.barh(0, own.us_per_io.iloc[0], color="#999999")
        for y, row in enumerate(own.itertuples()):
            end = max(row.us_per_io, row.us_per_io - row.difference_us)
            text = f"{row.mbps:.0f} MB/s"
            axes.annotate(text, (end, y), (4, 0), textcoords="offset points", va="center")
        axes.set_yticks(range(len(own)), own.after)
        axes.set_xlim(0, 1.25 * own.us_per_io.max())
        axes.set(title=f"{operation}s", xlabel="µs an I/O")
    axes.invert_yaxis()
figure

# %% [markdown]
# Does another set of mechanisms do the same? Every set of them was tried in the VMM. These slow its
# writes down, and no part of any of them does:

# %%
sets = pd.read_csv(BLK / "sets.csv").query("slower == 1")
found = [frozenset(text.split("; ")) for text in sets.mechanisms]
least = [not any(other < one for other in found) for one in found]
sets[least][["mechanisms", "vmm_mbps", "mbps"]].round(1).reset_index(drop=True)

# %% [markdown]
# ## How the file was open
#
# Nobody said. Write-through was the default and explains both directions; with another cache the
# same prototype would have looked different.

# %%
caches = pd.read_csv(BLK / "caches.csv")
caches["system"] = caches.system + caches.fault.map({0: "", 1: ", with the fault"})
caches.pivot(index=["operation", "cache"], columns="system", values="mbps").round(0)

# %% [markdown]
# ## Where serving in the kernel pays today
#
# Random reads against the better of two processes, one with threads and one with io_uring, on one
# worker. The gain is largest where the disk is fast and requests are small: then the way to it is
# most of the time. Where the disk itself is the bound nothing is gained. The line is at 1.05 times.

# %%
points = pd.read_csv(BLK / "exploration.csv")
keys = ["disk", "block_bytes", "vcpus", "workers", "depth"]
iops = points.pivot(index=keys, columns="server", values="iops")
iops["times"] = iops.kernel / iops[["io_uring", "threads"]].max(axis=1)
panels = {}
for (disk, size, vcpus, workers, depth), times in iops.times.items():
    if workers == 1:
        place = str(depth), f"{disk}, {size // 1024} KiB"
        panels.setdefault(f"virtual processors: {vcpus}", {})[place] = times
plots.heat_map(
    panels,
    title="Rate served in the kernel over the best by a process, random reads",
    xlabel="requests at once",
    ylabel="disk and size of a read",
    label="times",
    boundary=1.05,
    log=True,
    text=".2f",
)
