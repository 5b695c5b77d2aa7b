#include "sim/cost/names.h"

namespace vringlab::sim {
namespace {
constexpr std::array<std::string_view, kCosts> kCostNames = {
    "stac_clac",
    "lfence_floor",
    "barrier_drain",
    "access_ok",
    "address_mask",
    "separate_fixup",
    "plain_access",
    "copy_startup",
    "copy_bytes",
    "iov_iter",
    "hardened_usercopy",
    "direct_call",
    "indirect_call",
    "full_barrier",
    "atomic_rmw",
    "spin_lock",
    "rcu_read",
    "l2_hit",
    "l3_hit",
    "dram",
    "transfer_ccx",
    "transfer_socket",
    "transfer_remote",
    "remote_home",
    "line_stream",
    "store_miss",
    "tlb",
    "translate",
    "page_frag",
    "frame_release",
    "xdp_frame",
    "xdp_program",
    "send_call",
    "bh_pair",
    "syscall",
    "vm_exit",
    "eventfd_signal",
    "irq_inject",
    "context_switch",
    "worker_requeue",
    "busy_poll_turn",
    "guest_packet",
    "guest_burst",
    "guest_poll",
    "guest_interrupt",
    "gup",
    "vmap",
    "vunmap",
    "tlb_shootdown",
    "unpin_dirty",
    "mmu_notifier",
    "rcu_grace",
    "unmodelled",
};
static_assert(!kCostNames.back().empty());
constexpr std::array<std::string_view, kSteps> kStepNames = {
    "guest_fill", "guest_publish", "guest_kick",   "guest_reap", "guest_poll", "guest_interrupt",
    "wake",       "suppress",      "avail_index",  "avail_head", "descriptor", "translate",
    "build",      "header_copy",   "payload_copy", "send",       "used",       "call",
    "busy_poll",  "requeue",       "mapping",      "invalidate", "packet",
};
static_assert(!kStepNames.back().empty());
}  // namespace

std::string_view name(Cost cost) { return kCostNames[index(cost)]; }
std::string_view name(Step step) { return kStepNames[index(step)]; }

}  // namespace vringlab::sim
