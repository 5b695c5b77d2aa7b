# %% [markdown]
# # Your own question
#
# Three knobs of a transmitting guest: how ring metadata is reached, how many frames a call takes to
# the socket, and how long a frame is. Turn them and see what changes against the plain case, user
# access and 64 frames a call. With a kernel running the sliders below work, and a button runs what
# they say; without one the figures stand for the values that are written here. All of it is
# **simulated**.

# %%
import ipywidgets as widgets
import vringlab as vl
from vringlab import plots

PLANS = {
    "user access": vl.AccessPlan.user(),
    "mapped, RCU": vl.AccessPlan.vmap(guard="rcu"),
    "mapped, spinlock": vl.AccessPlan.vmap(guard="spinlock"),
}
BATCHES, FRAMES = (1, 4, 16, 64, 256), (64, 256, 512, 1024, 1514)


def scenario(plan, batch, frame):
    """Change what you ask about here: `vl.Scenario` has all the knobs."""
    return vl.Scenario(packets=10_000, plan=PLANS[plan], batch=batch, packet_bytes=frame)


# %%
def answer(plan, batch, frame):
    """Where the worker's time goes, against the plain case with frames of the same length."""
    plain = vl.run(scenario("user access", 64, frame))
    asked = vl.run(scenario(plan, batch, frame))
    gain = vl.compare(plain, asked)
    rates = f"{plain.rate_mpps:.2f} to {asked.rate_mpps:.2f} Mpps, {gain.gain_percent:+.1f} %"
    return plots.waterfall(
        {f"frames of {frame} bytes": gain},
        before="user access, 64 a call",
        after=f"{plan}, {batch} a call",
        title=rates,
    )


answer("mapped, RCU", 16, 64)

# %%
shown = widgets.interact_manual(
    answer,
    plan=widgets.Dropdown(options=list(PLANS), value="mapped, RCU"),
    batch=widgets.SelectionSlider(options=BATCHES, value=16),
    frame=widgets.SelectionSlider(options=FRAMES, value=64),
)

# %% [markdown]
# One answer is a point; a decision needs the area around it. When is a mapping worth at least 10 %?


# %%
def gain(plan, batch, frame):
    """Of a plan over user access, all else alike, in percent of packets a second."""
    a, b = (vl.run(scenario(p, batch, frame)) for p in ("user access", plan))
    return vl.compare(a, b).gain_percent


def area(plan):
    return {(frame, batch): gain(plan, batch, frame) for frame in FRAMES for batch in BATCHES}


plots.heat_map(
    {plan: area(plan) for plan in ("mapped, RCU", "mapped, spinlock")},
    title="Gain of a mapping over user access",
    xlabel="bytes of a frame",
    ylabel="frames a call",
    label="gain, % of packets a second",
    boundary=10,
)

# %% [markdown]
# Before you believe it: set the costs that matter to both ends of their ranges (`first_steps` shows
# how), and look up in `first_steps` how near the model comes to what was published.
