"""The published scenarios of direct access, one for each row."""

from vringlab import AccessPlan, Scenario

SEED = 1

# The guest: testpmd txonly over virtio-user, which polls its ring and never waits for a call. The
# host: a vhost worker that copies each frame to an XDP buffer and gives 64 at once to a TAP whose
# XDP program drops them. Thousands of packets after the first, the rate is steady.
TX = Scenario(guest="virtio-user", packet_bytes=64, ring_size=256, batch=64, packets=20_000)
# The processor of the first posting has no name, nor has that of the used element's measurement: a
# server of its time with an unknown clock. SMAP was on.
UNNAMED = TX.replace(host="unnamed-2018", kernel="v5.0")
SMAP_ON = TX.replace(host="broadwell-2.6", kernel="v5.0")
SMAP_OFF = TX.replace(host="broadwell-2.6", kernel="v5.0-nosmap")

USER = AccessPlan.user()
# The first posting mapped at SET_VRING_ADDR for good; the merged series guards its mapping by RCU.
MAPPED_UNGUARDED, MAPPED = AccessPlan.vmap(guard="none"), AccessPlan.vmap(guard="rcu")
TWO_WORDS, BLOCK = AccessPlan(used_element="two_words"), AccessPlan(used_element="block")

RATES = {
    "vmap.before": UNNAMED.replace(plan=USER),
    "vmap.after": UNNAMED.replace(plan=MAPPED_UNGUARDED),
    "vmap2019.smap_on.before": SMAP_ON.replace(plan=USER),
    "vmap2019.smap_on.after": SMAP_ON.replace(plan=MAPPED),
    "vmap2019.smap_off.before": SMAP_OFF.replace(plan=USER),
    "vmap2019.smap_off.after": SMAP_OFF.replace(plan=MAPPED),
    # By user access, on a machine without a name: a page reference a frame, and many at once.
    "fragbias.before": UNNAMED.replace(plan=USER, kernel="v5.0-page-refs"),
    "fragbias.after": UNNAMED.replace(plan=USER),
}
# usedelem2019, by the number of used elements written at once. The kernel writes 64, which are one
# block under both plans: they can only differ where each element is written alone.
USED_ELEMENT = {
    batch: tuple(UNNAMED.replace(plan=plan, batch=batch) for plan in (TWO_WORDS, BLOCK))
    for batch in (TX.batch, 1)
}
PAIRS = ("vmap", "vmap2019.smap_on", "vmap2019.smap_off")
