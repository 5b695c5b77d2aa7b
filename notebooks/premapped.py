# %% [markdown]
# # Premapped: one DMA mapping a fragment, or none
#
# A guest behind an IOMMU maps each receive buffer and unmaps it again; with a strict IOMMU each
# unmap waits for the IOTLB. If the driver maps a whole page fragment, or if memory is mapped before
# it reaches the virtqueue, nearly all of that goes. A premapped queue also takes an AF_XDP
# application's memory, so that no side of the guest copies. Everything here is **simulated** unless
# it is called published; it reads `results/premapped`.

# %%
from pathlib import Path

import pandas as pd
from vringlab import plots
from vringlab.results import read_table

PREMAPPED = Path("../results/premapped")

# %% [markdown]
# ## Published and simulated
#
# This system is predicted worst of all four, and the picture shows it. Rates of a mapping a buffer
# and of a UDP socket were fitted, all else is predicted.

# %%
plots.scoreboard({"premapped": plots.read_scores(PREMAPPED / "table.csv")}, title="Premapped")

# %%
table = pd.read_csv(PREMAPPED / "table.csv", index_col="id")
table[["unit", "published", "predicted", "low", "high", "use"]].round(0).astype(
    {"published": int, "predicted": int, "low": int, "high": int}
)

# %% [markdown]
# Two things are missing. The machine with a strict IOMMU went on waiting for its IOTLB even with
# one mapping for 21 buffers; what else it unmapped is not published. And the published vhost worker
# needs more time for a packet than the simulated one, so AF_XDP comes out too fast, above all on
# receive.
#
# ## What the mappings cost
#
# The guest's time for a received packet.

# %%
rows = read_table(PREMAPPED / "waterfall.csv").rows


def falls(names):
    """By title: the rows of the waterfall of that name."""
    return {
        title: plots.Falls.of_rows(
            [row for row in rows if row["what"] == what], before="before_ns", after="after_ns"
        )
        for what, title in names.items()
    }


plots.waterfall(
    falls({"lazy": "lazy IOMMU", "strict": "strict IOMMU"}),
    before="a mapping a buffer",
    after="a mapping a fragment",
    title="What one mapping a fragment saves",
)

# %% [markdown]
# ## How far it carries
#
# The more buffers fit into a fragment and the dearer an unmap, the more is gained. Where a fragment
# holds one buffer nothing is. The line is at one and a half times the rate.

# %%
mappings = pd.read_csv(PREMAPPED / "mappings.csv")
panels = {
    f"{iommu}, {ns:.0f} ns an invalidation": {
        (row.fragment_bytes / 1024, row.buffer_bytes): row.per_fragment_pps / row.per_buffer_pps
        for row in own.itertuples()
    }
    for (iommu, ns), own in mappings.groupby(["iommu", "invalidation_ns"])
}
plots.heat_map(
    panels,
    title="Rate with a mapping a fragment over that with a mapping a buffer",
    xlabel="fragment, KiB",
    ylabel="shortest buffer, bytes",
    label="times",
    boundary=1.5,
    log=True,
    text=".2f",
)

# %% [markdown]
# ## Queues that share an invalidation queue
#
# With a strict IOMMU all virtqueues wait for one queue in hardware. Two of them nearly fill it with
# a mapping a buffer, and more gain little in all; one mapping a fragment scales.

# %%
queues = pd.read_csv(PREMAPPED / "queues.csv")
queues["mapping"] = queues.per_fragment.map({True: "a fragment", False: "a buffer"})
total = queues.pivot(index="queues", columns=["iommu", "mapping"], values="pps") / 1e6
total.rename_axis("queues (total, million packets a second)").round(2)

# %% [markdown]
# ## AF_XDP against a UDP socket
#
# A queue that never maps takes the application's own memory. Neither system calls a packet nor
# copies are left in the guest. The largest bar is `unmodelled`: time that the published rate of the
# socket takes and no cost row explains. That all of it goes with the socket is an assumption.

# %%
plots.waterfall(
    falls({"sent, guest": "sent"}),
    before="UDP socket",
    after="AF_XDP",
    title="What AF_XDP saves in the guest that sends",
)

# %%
plots.waterfall(
    falls({"received, guest": "received: the softirq's processor"}),
    before="UDP socket",
    after="AF_XDP",
    title="What AF_XDP saves in the guest that receives",
)

# %% [markdown]
# At full load it is faster for every size. At a light load the question is what the guest's
# processors spend, and there wake-ups decide. A sender that sleeps between packets saves hardly
# anything, or loses. A receiver saves most where polls are put off for some microseconds, so that
# several packets share a wake-up. The line is where AF_XDP takes as much time as a socket.

# %%
loads = pd.read_csv(PREMAPPED / "loads.csv").query("offered_pps > 0")
loads["saved"] = 100 * (1 - loads.xsk_guest_ns / loads.udp_guest_ns)
loads["what"] = loads.way.map({"xmit": "sent", "recv": "received"})
panels = {}
for row in loads.itertuples():
    what = f"{row.what}, {row.offered_pps / 1e3:.0f} k a second"
    panels.setdefault(what, {})[row.packet_bytes, row.deferred_us] = row.saved
plots.heat_map(
    panels,
    title="Guest processor time that AF_XDP saves under a light load",
    xlabel="bytes of a packet",
    ylabel="polls put off, µs",
    label="saved, %",
    boundary=0,
)
