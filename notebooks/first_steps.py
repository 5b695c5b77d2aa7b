# %% [markdown]
# # First steps
#
# vringlab runs a real virtqueue engine on a simulated machine. The ring, the descriptors and the
# bytes are real; time is not: each access, copy, barrier and wake-up is charged what a kernel and
# a processor would pay for it. So every number in this notebook is **simulated**, unless it is
# called published.
#
# A `Scenario` says what exists: a guest, a ring, a vhost worker, a sink. `run` moves packets.

# %%
from pathlib import Path

import pandas as pd
import vringlab as vl
from vringlab import plots

RESULTS = Path("../results")

user = vl.run(vl.Scenario(packets=20_000))
print(user.summary())

# %% [markdown]
# The guest here is testpmd, which fills 64-byte frames as fast as it can. The worker is the one
# that is always busy, so its time a packet sets the rate. Each line of it is a step of the
# packet's life, and the lines add up exactly: no time is without a name.
#
# ## What does a change gain?
#
# vhost can reach the ring's metadata by user access (toggle SMAP, check the address, wait at a
# speculation barrier, each time) or through a mapping that is made once. One knob is changed, all
# else stays.

# %%
mapped = vl.run(vl.Scenario(packets=20_000, plan=vl.AccessPlan.vmap()))
gain = vl.compare(user, mapped)
print(gain.summary(most=6))

# %% [markdown]
# The same as a picture, in the order of a packet's life. The two ends are the worker's time a
# packet; what lies between is every difference.

# %%
plots.waterfall(
    {"64-byte frames": gain}, before="user access", after="mapped", title="What a mapping saves"
)

# %% [markdown]
# ## What if a cost is wrong?
#
# Costs are rows with a range and a source (`vringlab costs` lists them), and each can be set. No
# one has published how many cycles a pair of STAC and CLAC takes, so ask how much hangs on it.

# %%
[toggles] = [row for row in vl.cost_rows() if row.name == "stac_clac_pair.intel"]
gains = {}
for cycles in (toggles.low, toggles.best, toggles.high):
    costs = {toggles.name: cycles}
    a = vl.run(vl.Scenario(packets=20_000, costs=costs))
    b = vl.run(vl.Scenario(packets=20_000, costs=costs, plan=vl.AccessPlan.vmap()))
    gains[cycles] = (a.rate_mpps, b.rate_mpps, vl.compare(a, b).gain_percent)
columns = ["user access, Mpps", "mapped, Mpps", "gain, %"]
pd.DataFrame.from_dict(gains, orient="index", columns=columns).rename_axis("cycles a pair").round(2)

# %% [markdown]
# ## How far can it be trusted?
#
# The model is held against published measurements. A few rows fit the costs (squares); the others
# are predicted (dots) and never fitted. A dot on the diagonal is a hit. A dot whose bar misses the
# diagonal is a miss, and stays in the picture.

# %%
tables = sorted(RESULTS.glob("*/table.csv"))
scores = {t.parent.name: plots.read_scores(t) for t in tables if t.parent.name != "validation"}
plots.scoreboard(scores)

# %%
trust = {
    system: {
        "predicted rates, median error in %": round(plots.median_error_percent(rows), 1),
        "predicted rows": sum(not row.fitted for row in rows),
        "of them inside 90 %": sum(row.inside for row in rows if not row.fitted),
    }
    for system, rows in scores.items()
}
pd.DataFrame.from_dict(trust, orient="index")

# %% [markdown]
# Next: `life_of_a_packet` walks through the steps, `your_own_question` lets you turn the knobs.
