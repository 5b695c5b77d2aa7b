# %% [markdown]
# # The life of a packet
#
# One transmitted frame passes from the guest's driver through the ring to the vhost worker and its
# socket. This notebook follows it step by step. All times are **simulated**.

# %%
import pandas as pd
import vringlab as vl
from vringlab import plots

packet = vl.run(vl.Scenario(packets=20_000))

# %% [markdown]
# ## Step by step
#
# | step | what happens |
# |---|---|
# | guest_fill | the guest writes the frame and a descriptor |
# | guest_publish, guest_kick | it publishes a burst; if the worker sleeps, it kicks |
# | wake | the worker wakes up |
# | avail_index, avail_head | the worker reads how far the guest is, then the next entry |
# | descriptor, translate | it reads the descriptors and finds the host address of the buffer |
# | build, header_copy, payload_copy | header and frame are copied into a buffer of the host |
# | send | a batch goes to the socket |
# | used, call | used elements and index are written; the guest is interrupted if it asked for it |
# | guest_reap | the guest takes its buffers back |
#
# Guest and worker run at the same time on two cores. The slower of the two sets the rate.

# %%
steps = pd.DataFrame({core: packet.by("step", core) for core in ("guest", "worker")})
steps = steps.reindex([step for step in vl.STEPS if step in steps.index])
steps.round(1).astype(object).fillna("")

# %% [markdown]
# ## The same time by what it is spent on
#
# A step is made of costs: cache-line transfers between the cores, user access with its toggles and
# barriers, copies, calls. The ten largest of the worker:

# %%
causes = pd.Series(packet.by("cost"), name="ns a packet").sort_values(ascending=False)
with plots.drawn("The worker's time a packet, by cost", (6.4, 3.4), plots.STYLE) as figure:
    axes = figure.subplots()
    top = [*causes.head(10).items(), ("all else", causes.iloc[10:].sum())]
    for y, (_, ns) in enumerate(top):
        axes.barh(y, ns, 0.7, color=plots.COLOURS[0])
        axes.annotate(f"{ns:.1f}", (ns, y), (4, 0), textcoords="offset points", va="center")
    axes.set_yticks(range(len(top)), [name for name, _ in top])
    axes.invert_yaxis()
    axes.set_xlabel("ns a packet")
figure

# %% [markdown]
# `avail_head` and `descriptor` are dear although they read few bytes: the guest has just written
# these lines, so they come from the other core's cache.
#
# ## The other direction
#
# A received frame meets the same ring the other way round. The worker fetches buffers that the
# guest offered, copies into them, and publishes used elements after whole packets.

# %%
received = vl.run(vl.Scenario(workload="rx", packets=20_000))
both = pd.DataFrame({"transmit": packet.by("step"), "receive": received.by("step")})
both.reindex([step for step in vl.STEPS if step in both.index]).round(1).astype(object).fillna("")

# %% [markdown]
# ## How long a packet takes
#
# At full speed a packet waits behind a whole ring. At a lower rate it waits for one thing: the
# worker has gone to sleep and must be woken. Near the highest rate the worker never sleeps, so
# the median is lowest somewhere between, and queues grow beyond. A virtual machine sends here,
# at random (Poisson) times.

# %%
rates = {"10 k": 1e4, "500 k": 5e5, "2 M": 2e6, "4 M": 4e6}
loads = {
    name: vl.run(vl.Scenario(guest="vm", packets=20_000, offered_pps=pps, arrival="poisson"))
    for name, pps in rates.items()
}
plots.latency_cdf(
    {f"{name} packets a second": run for name, run in loads.items()},
    title="Latency from the guest's add to the socket",
)

# %% [markdown]
# Why: kicks and wake-ups a packet fall as the load rises, for a worker that is busy need not be
# told.

# %%
signals = {
    f"{name} a second": {
        "reached, Mpps": run.rate_mpps,
        "kicks a packet": run.kicks / run.packets,
        "wake-ups a packet": run.wakeups / run.packets,
        "worker busy, %": 100 * run.busy_share("worker"),
    }
    for name, run in loads.items()
}
pd.DataFrame(signals).T.round(3)
