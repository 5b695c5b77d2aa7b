# %% [markdown]
# # Batching: up to 64 frames a call to the socket
#
# vhost once handed each frame to the socket by itself. Since 2018 it builds XDP buffers and hands
# over up to 64 at once. What does that gain, how large should the batch be, and where does it not
# pay? Everything here is **simulated** unless it is called published; it reads `results/xdp_batch`.

# %%
from pathlib import Path

import pandas as pd
from vringlab import plots
from vringlab.results import read_table

BATCH = Path("../results/xdp_batch")

# %% [markdown]
# ## How large a batch?
#
# The time a packet is close to *a + b / batch*: what a frame pays plus its share of what a call
# pays. So most of the gain is there at 16, and little comes after 64. Hollow dots were fitted, full
# ones are predicted.

# %%
curves = {}
for row in pd.read_csv(BATCH / "sweep.csv").itertuples():
    point = plots.BatchPoint(
        batch=row.batch,
        value=row.predicted_ns,
        low=1e9 / row.high_pps,
        high=1e9 / row.low_pps,
        published=row.published_ns,
        fitted=row.use == "calibrate",
    )
    curves.setdefault({"tx": "transmit", "rx": "receive"}[row.workload], []).append(point)
plots.batch_sweep(
    curves, title="Time a packet over the batch, 64-byte frames", ylabel="ns a packet"
)

# %% [markdown]
# ## Where a batch saves
#
# A call to the socket is paid once for 64 frames: the system's own path, locks, the indirect call
# with its retpoline. Used elements are written together as well.

# %%
rows = read_table(BATCH / "waterfall.csv").rows
falls = {
    sink: plots.Falls.of_rows(
        [row for row in rows if row["sink"] == sink], before="alone_ns", after="batched_ns"
    )
    for sink in ("xdp_drop", "macvtap")
}
plots.waterfall(falls, before="a call a packet", after="64 a call", title="What a batch saves")

# %% [markdown]
# ## Where it pays
#
# Gain over one frame a call by frame size, batch and sink; the line is at 0. A batch of one has all
# the new work and shares nothing, so it loses nearly everywhere. Long frames gain less: the copy is
# most of their time. Behind xdp_tx a process reads what comes back, and that is the bound.

# %%
sizes = pd.read_csv(BATCH / "sizes.csv").query("retpoline == 'on'")
panels = {
    sink: {(row.packet_bytes, row.batch): row.gain_percent for row in own.itertuples()}
    for sink, own in sizes.groupby("sink", sort=False)
}
plots.heat_map(
    panels,
    title="Gain of a batch over one frame a call",
    xlabel="bytes of a frame",
    ylabel="frames a call",
    label="gain, % of packets a second",
    boundary=0,
)

# %% [markdown]
# ## TCP streams
#
# For streams the answer depends on who is the bound. If the guest can't write faster, the worker's
# savings count for nothing. If segments are longer than a page they are sent alone, batch or not.
# Published and simulated gains, the same cells; less than 3 % is next to nothing.

# %%
streams = pd.read_csv(BATCH / "netperf.csv")
names = {"published": "published_percent", "simulated": "predicted_percent"}
panels = {
    name: {
        (str(cell.sessions), str(cell.message_bytes)): getattr(cell, column)
        for cell in streams.itertuples()
    }
    for name, column in names.items()
}
plots.heat_map(
    panels,
    title="Gain of TCP streams from guest to host (the left panel is published)",
    xlabel="sessions",
    ylabel="bytes of a write",
    label="gain, % of throughput",
    boundary=3,
)

# %%
agreement = streams.groupby("regime")["right"].value_counts().unstack(fill_value=0)
agreement.rename_axis("who is the bound").rename_axis("sign is right", axis=1)

# %% [markdown]
# The streams are the weakest of the predictions: see the misses in `results/xdp_batch/report.md`.
#
# ## What it costs in latency
#
# A frame waits for its batch only while there are more behind it: a worker that runs dry sends
# what it has. So at the same rate the median hardly moves; the tail is longer, by little.

# %%
latency = pd.read_csv(BATCH / "latency.csv").query("share_of == 'batch 1'")
table = latency.pivot(
    index="load_percent", columns="batch", values=["latency_p50_us", "latency_p99_us"]
)
table.rename_axis("load, % of what one a call can do").round(1)
