#include "sim/access/operations.h"

#include <gtest/gtest.h>

#include <map>

namespace vringlab::sim {
namespace {

constexpr RingOp kReads[] = {RingOp::kGetAvailIdx,  RingOp::kGetAvailHead, RingOp::kGetAvailFlags,
                             RingOp::kGetUsedEvent, RingOp::kGetUsedIdx,   RingOp::kGetDescriptor};
constexpr RingOp kWrites[] = {RingOp::kPutUsedFlags, RingOp::kPutUsedIdx, RingOp::kPutAvailEvent};

// What an operation is made of: how often each cost occurs in it.
using Parts = std::map<std::string_view, std::uint64_t>;

Parts parts_of(const Operation& operation) {
  Parts parts;
  for (const Operation::Part& part : operation.parts) parts[name(part.cost)] += part.count;
  return parts;
}

Parts sum(Parts a, const Parts& b) {
  for (const auto& [cost, count] : b) a[cost] += count;
  return a;
}

const SinkCosts kSink{.frame = {Cost::kXdpFrame, Cost::kXdpProgram, Cost::kFrameRelease},
                      .lone = {Cost::kBridge},
                      .flush = {Cost::kNicDoorbell}};

struct Table {
  CostModel costs;
  std::vector<Operation> operations;

  explicit Table(const AccessPlan& plan, const char* kernel = "v5.0-hardened")
      : costs(resolve_costs(find_host("broadwell-2.6"), find_kernel(kernel), {})),
        operations(build_operations(plan, find_kernel(kernel), costs, kSink)) {}

  const Operation& at(RingOp op, RingVariant variant = {}) const {
    return operations[ring_variant_base(variant) + static_cast<std::size_t>(op)];
  }
  const Operation& at(Op op) const { return operations[operation_index(op)]; }
  Parts parts(RingOp op, RingVariant variant = {}) const { return parts_of(at(op, variant)); }
  Parts parts(Op op) const { return parts_of(at(op)); }
};

constexpr RingVariant kInSection = {.in_section = true, .unmapped = false};
constexpr RingVariant kUnmapped = {.in_section = false, .unmapped = true};

AccessPlan user(UserAccess access) { return {.user_access = access}; }
AccessPlan mapped(Guard guard = Guard::kRcu) {
  return {.map_desc = true, .map_avail = true, .map_used = true, .guard = guard};
}

// The loads or stores of one operation: a descriptor is two, all else one word.
std::uint64_t words(RingOp op) { return op == RingOp::kGetDescriptor ? 2 : 1; }

// --- Words of user memory ---

TEST(CopyUser, a_read_toggles_checks_and_waits_at_the_barrier) {
  const Table table(user(UserAccess::kCopyUser));
  for (const RingOp op : kReads) {
    EXPECT_EQ(table.parts(op), (Parts{{"stac_clac", 1},
                                      {"access_ok", 1},
                                      {"lfence_floor", 1},
                                      {"separate_fixup", 1},
                                      {"plain_access", words(op)}}));
    EXPECT_TRUE(table.at(op).drains);
  }
}

TEST(CopyUser, a_write_has_no_barrier) {
  const Table table(user(UserAccess::kCopyUser));
  for (const RingOp op : kWrites) {
    EXPECT_EQ(
        table.parts(op),
        (Parts{{"stac_clac", 1}, {"access_ok", 1}, {"separate_fixup", 1}, {"plain_access", 1}}));
    EXPECT_FALSE(table.at(op).drains);
  }
}

TEST(CopyUser, without_smap_nothing_is_toggled) {
  const Table table(user(UserAccess::kCopyUser), "v5.0-nosmap");
  EXPECT_EQ(
      table.parts(RingOp::kGetAvailIdx),
      (Parts{{"access_ok", 1}, {"lfence_floor", 1}, {"separate_fixup", 1}, {"plain_access", 1}}));
  EXPECT_EQ(table.parts(RingOp::kPutUsedIdx),
            (Parts{{"access_ok", 1}, {"separate_fixup", 1}, {"plain_access", 1}}));
}

TEST(CopyUser, without_mitigations_a_read_has_no_barrier) {
  const Table table(user(UserAccess::kCopyUser), "bare");
  EXPECT_EQ(table.parts(RingOp::kGetAvailIdx),
            (Parts{{"access_ok", 1}, {"separate_fixup", 1}, {"plain_access", 1}}));
  EXPECT_FALSE(table.at(RingOp::kGetAvailIdx).drains);
}

TEST(Masked, the_mask_takes_the_place_of_check_and_barrier) {
  const Table table(user(UserAccess::kMasked));
  for (const RingOp op : kReads) {
    EXPECT_EQ(table.parts(op), (Parts{{"stac_clac", 1},
                                      {"address_mask", 1},
                                      {"separate_fixup", 1},
                                      {"plain_access", words(op)}}));
    EXPECT_FALSE(table.at(op).drains);
  }
  for (const RingOp op : kWrites) {
    EXPECT_EQ(table.parts(op)["address_mask"], 1u);
    EXPECT_EQ(table.parts(op)["access_ok"], 0u);
  }
}

// --- Sections ---

TEST(Section, an_access_inside_is_the_access_alone) {
  const Table table(user(UserAccess::kSection));
  for (const RingOp op : kReads) {
    EXPECT_EQ(table.parts(op, kInSection),
              (Parts{{"separate_fixup", 1}, {"plain_access", words(op)}}));
    EXPECT_FALSE(table.at(op, kInSection).drains);
  }
  for (const RingOp op : kWrites)
    EXPECT_EQ(table.parts(op, kInSection), (Parts{{"separate_fixup", 1}, {"plain_access", 1}}));
}

TEST(Section, opening_one_toggles_checks_and_waits_at_the_barrier) {
  const Table table(user(UserAccess::kSection));
  for (const Op op : {Op::kSectionAvail, Op::kSectionDesc, Op::kSectionFetch, Op::kSectionUsed}) {
    EXPECT_EQ(table.parts(op), (Parts{{"stac_clac", 1}, {"access_ok", 1}, {"lfence_floor", 1}}));
    EXPECT_TRUE(table.at(op).drains);
  }
}

// user_access_begin has a barrier whatever is then done in the section.
TEST(Section, a_lone_access_is_a_section_of_its_own) {
  const Table table(user(UserAccess::kSection));
  for (const RingOp op : {RingOp::kGetAvailIdx, RingOp::kPutUsedFlags}) {
    EXPECT_EQ(table.parts(op), sum(table.parts(Op::kSectionAvail), table.parts(op, kInSection)));
    EXPECT_TRUE(table.at(op).drains);
  }
}

TEST(Section, without_sections_the_scopes_cost_nothing) {
  for (const UserAccess access : {UserAccess::kCopyUser, UserAccess::kMasked}) {
    const Table table(user(access));
    EXPECT_TRUE(table.at(Op::kSectionFetch).parts.empty());
    EXPECT_FALSE(table.at(Op::kSectionFetch).drains);
  }
}

TEST(SharedFixup, no_access_has_a_fixup_of_its_own) {
  const Table table(user(UserAccess::kSharedFixup));
  for (const RingOp op : kReads) {
    EXPECT_EQ(table.parts(op, kInSection), (Parts{{"plain_access", words(op)}}));
    EXPECT_FALSE(table.parts(op).contains("separate_fixup"));
  }
}

TEST(SharedFixup, differs_from_a_section_by_the_fixup_alone) {
  const Table shared(user(UserAccess::kSharedFixup));
  const Table section(user(UserAccess::kSection));
  for (const RingVariant variant : {RingVariant{}, kInSection}) {
    for (const RingOp op : kReads)
      EXPECT_EQ(sum(shared.parts(op, variant), {{"separate_fixup", 1}}),
                section.parts(op, variant));
  }
}

// --- Mappings and their guards ---

TEST(Mapped, without_a_guard_it_is_the_access_alone) {
  const Table table(mapped(Guard::kNone));
  for (const RingOp op : kReads) {
    EXPECT_EQ(table.parts(op), (Parts{{"plain_access", words(op)}}));
    EXPECT_FALSE(table.at(op).drains);
  }
  for (const RingOp op : kWrites) EXPECT_EQ(table.parts(op), (Parts{{"plain_access", 1}}));
}

struct GuardRow {
  Guard guard;
  Parts parts;
  bool drains;
};

const GuardRow kGuards[] = {
    {Guard::kNone, {}, false},
    {Guard::kRcu, {{"rcu_read", 1}}, false},
    {Guard::kCounter, {{"plain_access", 2}, {"full_barrier", 2}}, true},
    {Guard::kSpinlock, {{"spin_lock", 1}}, true},
    {Guard::kAtomic, {{"atomic_rmw", 2}}, true},
};

TEST(Mapped, each_guard_adds_its_own_to_every_access) {
  const Table alone(mapped(Guard::kNone));
  for (const GuardRow& row : kGuards) {
    const Table table(mapped(row.guard));
    for (const RingOp op : kReads) {
      EXPECT_EQ(table.parts(op), sum(alone.parts(op), row.parts));
      EXPECT_EQ(table.at(op).drains, row.drains);
    }
    for (const RingOp op : kWrites) {
      EXPECT_EQ(table.parts(op), sum(alone.parts(op), row.parts));
      EXPECT_EQ(table.at(op).drains, row.drains);
    }
  }
}

TEST(Mapped, each_area_by_itself) {
  AccessPlan desc;
  desc.map_desc = true;
  AccessPlan avail;
  avail.map_avail = true;
  AccessPlan used;
  used.map_used = true;
  const auto toggles = [](const AccessPlan& plan, RingOp op) {
    return Table(plan).parts(op)["stac_clac"];
  };
  EXPECT_EQ(toggles(desc, RingOp::kGetDescriptor), 0u);
  EXPECT_EQ(toggles(desc, RingOp::kGetAvailIdx), 1u);
  EXPECT_EQ(toggles(desc, RingOp::kPutUsedIdx), 1u);
  for (const RingOp op : {RingOp::kGetAvailIdx, RingOp::kGetAvailHead, RingOp::kGetAvailFlags,
                          RingOp::kGetUsedEvent}) {
    EXPECT_EQ(toggles(avail, op), 0u);
    EXPECT_EQ(toggles(used, op), 1u);
  }
  EXPECT_EQ(toggles(avail, RingOp::kGetDescriptor), 1u);
  for (const RingOp op : {RingOp::kGetUsedIdx, RingOp::kPutUsedOne, RingOp::kPutUsedBlock,
                          RingOp::kPutUsedFlags, RingOp::kPutUsedIdx, RingOp::kPutAvailEvent}) {
    EXPECT_EQ(toggles(used, op), 0u);
    EXPECT_EQ(toggles(avail, op), 1u);
  }
}

// A mapping that was taken away: everything is as if it had never been planned.
TEST(Unmapped, is_the_user_access_of_the_plan) {
  for (const UserAccess access : {UserAccess::kCopyUser, UserAccess::kMasked, UserAccess::kSection,
                                  UserAccess::kSharedFixup}) {
    AccessPlan plan = mapped(Guard::kSpinlock);
    plan.user_access = access;
    const Table table(plan);
    const Table never(user(access));
    for (std::size_t i = 0; i < kRingOps; ++i) {
      const auto op = static_cast<RingOp>(i);
      EXPECT_EQ(table.parts(op, kUnmapped), never.parts(op)) << i;
      EXPECT_EQ(table.at(op, kUnmapped).drains, never.at(op).drains) << i;
      EXPECT_EQ(table.parts(op, {true, true}), never.parts(op, kInSection)) << i;
    }
  }
}

TEST(Mapped, a_section_around_it_changes_nothing) {
  AccessPlan plan = mapped();
  plan.user_access = UserAccess::kSection;
  const Table table(plan);
  for (std::size_t i = 0; i < kRingOps; ++i) {
    const auto op = static_cast<RingOp>(i);
    EXPECT_EQ(table.parts(op, kInSection), table.parts(op)) << i;
  }
}

// --- Used elements ---

TEST(UsedElement, two_words_are_two_accesses_with_all_that_comes_with_one) {
  AccessPlan plan = user(UserAccess::kCopyUser);
  plan.used_element = UsedElement::kTwoWords;
  const Table table(plan);
  EXPECT_EQ(
      table.parts(RingOp::kPutUsedOne),
      (Parts{{"stac_clac", 2}, {"access_ok", 2}, {"separate_fixup", 2}, {"plain_access", 2}}));
  plan.user_access = UserAccess::kSection;
  EXPECT_EQ(Table(plan).parts(RingOp::kPutUsedOne, kInSection),
            (Parts{{"separate_fixup", 2}, {"plain_access", 2}}));
  plan = mapped(Guard::kAtomic);
  plan.used_element = UsedElement::kTwoWords;
  EXPECT_EQ(Table(plan).parts(RingOp::kPutUsedOne),
            (Parts{{"atomic_rmw", 4}, {"plain_access", 2}}));
}

const Parts kBlockOfUser = {{"stac_clac", 1},
                            {"access_ok", 1},
                            {"direct_call", 1},
                            {"hardened_usercopy", 1},
                            {"copy_startup", 1}};

TEST(UsedElement, a_block_is_a_copy_with_one_toggle) {
  const Table table(user(UserAccess::kCopyUser));
  EXPECT_EQ(table.parts(RingOp::kPutUsedOne), kBlockOfUser);
  EXPECT_EQ(table.parts(RingOp::kPutUsedBlock), kBlockOfUser);
  EXPECT_FALSE(table.at(RingOp::kPutUsedBlock).drains);
}

TEST(UsedElement, several_are_a_block_even_where_one_is_two_words) {
  AccessPlan plan = user(UserAccess::kCopyUser);
  plan.used_element = UsedElement::kTwoWords;
  EXPECT_EQ(Table(plan).parts(RingOp::kPutUsedBlock), kBlockOfUser);
}

TEST(UsedElement, a_block_in_a_section_has_no_toggle) {
  EXPECT_EQ(Table(user(UserAccess::kSection)).parts(RingOp::kPutUsedBlock, kInSection),
            (Parts{{"direct_call", 1}, {"hardened_usercopy", 1}, {"copy_startup", 1}}));
}

TEST(UsedElement, mapped_one_is_a_store_and_several_a_plain_copy) {
  const Table table(mapped(Guard::kRcu));
  EXPECT_EQ(table.parts(RingOp::kPutUsedOne), (Parts{{"rcu_read", 1}, {"plain_access", 1}}));
  EXPECT_EQ(table.parts(RingOp::kPutUsedBlock), (Parts{{"rcu_read", 1}, {"copy_startup", 1}}));
}

// --- Buffers ---

const Parts kBufferCopy = {{"iov_iter", 1},  {"direct_call", 1}, {"hardened_usercopy", 1},
                           {"stac_clac", 1}, {"access_ok", 1},   {"copy_startup", 1}};
constexpr Op kCopies[] = {Op::kIndirectCopy, Op::kHeaderCopy, Op::kPayloadCopy};

std::vector<AccessPlan> all_plans() {
  std::vector<AccessPlan> plans;
  for (unsigned maps = 0; maps < 8; ++maps) {
    for (const Guard guard :
         {Guard::kNone, Guard::kRcu, Guard::kCounter, Guard::kSpinlock, Guard::kAtomic}) {
      for (const UserAccess access : {UserAccess::kCopyUser, UserAccess::kMasked,
                                      UserAccess::kSection, UserAccess::kSharedFixup}) {
        for (const UsedElement element : {UsedElement::kTwoWords, UsedElement::kBlock})
          plans.push_back({.map_desc = (maps & 1) != 0,
                           .map_avail = (maps & 2) != 0,
                           .map_used = (maps & 4) != 0,
                           .guard = guard,
                           .user_access = access,
                           .used_element = element});
      }
    }
  }
  return plans;
}

// Header and payload lie in buffers, not in the ring: no plan maps them.
TEST(BufferCopies, keep_their_toggles_in_every_plan) {
  for (const AccessPlan& plan : all_plans()) {
    const Table table(plan);
    for (const Op op : kCopies) {
      EXPECT_EQ(table.parts(op), kBufferCopy);
      EXPECT_FALSE(table.at(op).drains);
    }
  }
}

TEST(BufferCopies, keep_their_barrier_in_every_plan_where_the_kernel_has_one) {
  for (const AccessPlan& plan : all_plans()) {
    const Table table(plan, "v6.2");
    for (const Op op : kCopies) {
      EXPECT_EQ(table.parts(op), sum(kBufferCopy, {{"lfence_floor", 1}}));
      EXPECT_TRUE(table.at(op).drains);
    }
  }
}

TEST(BufferCopies, in_one_section_share_toggle_check_and_barrier) {
  const Table table({});
  EXPECT_EQ(table.parts(Op::kCopySection),
            (Parts{{"stac_clac", 1}, {"access_ok", 1}, {"lfence_floor", 1}}));
  EXPECT_TRUE(table.at(Op::kCopySection).drains);
  for (const Op op : {Op::kHeaderCopyInSection, Op::kPayloadCopyInSection}) {
    EXPECT_EQ(
        table.parts(op),
        (Parts{
            {"iov_iter", 1}, {"direct_call", 1}, {"hardened_usercopy", 1}, {"copy_startup", 1}}));
    EXPECT_FALSE(table.at(op).drains);
  }
}

// --- All operations ---

std::vector<std::vector<Operation>> all_tables() {
  std::vector<std::vector<Operation>> tables;
  for (const KernelPreset& kernel : kernel_presets()) {
    for (const AccessPlan& plan : all_plans())
      tables.push_back(Table(plan, kernel.name.data()).operations);
  }
  return tables;
}

TEST(Operations, lead_and_tail_are_the_sum_of_the_parts) {
  for (const auto& table : all_tables()) {
    for (const Operation& operation : table) {
      std::uint64_t sum_ps = 0;
      for (const Operation::Part& part : operation.parts) sum_ps += part.ps;
      ASSERT_EQ(operation.lead_ps + operation.tail_ps, sum_ps);
    }
  }
}

TEST(Operations, a_part_costs_its_row_as_often_as_it_occurs) {
  const Table table({});
  for (const Operation& operation : table.operations) {
    for (const Operation::Part& part : operation.parts) {
      if (part.cost != Cost::kUnmodelled && part.cost != Cost::kUnmodelledRx) {
        EXPECT_EQ(part.ps, table.costs[part.cost] * part.count) << name(part.cost);
      }
    }
  }
}

// The work without a name is done half before a packet's copies, half after them.
TEST(Operations, the_unmodelled_work_of_a_packet_comes_in_two_halves) {
  const Table table({});
  const Operation::Part early = table.at(Op::kAllocateBuffer).parts.front();
  const Operation::Part late = table.at(Op::kUnmodelledLate).parts.front();
  EXPECT_EQ(early.step, Step::kPacket);
  EXPECT_EQ(late.step, Step::kPacket);
  EXPECT_EQ(early.ps + late.ps, table.costs[Cost::kUnmodelled]);
  EXPECT_LE(late.ps - early.ps, 1u);
  EXPECT_EQ(early.count + late.count, 1u);
}

// Access is forbidden again after the access, and that half of a toggle's time hides
// as much of a line that is under way.
TEST(Operations, a_toggle_lies_half_before_and_half_after_the_access) {
  const Table table({});
  const std::uint64_t toggle = table.costs[Cost::kStacClac];
  EXPECT_EQ(table.at(RingOp::kGetAvailIdx).tail_ps, toggle / 2);
  EXPECT_EQ(Table(mapped()).at(RingOp::kGetAvailIdx).tail_ps, 0u);
}

struct StepRow {
  RingOp op;
  Step step;
};

TEST(Operations, ring_operations_fall_to_their_step) {
  const StepRow rows[] = {
      {RingOp::kGetAvailIdx, Step::kAvailIndex}, {RingOp::kGetAvailHead, Step::kAvailHead},
      {RingOp::kGetAvailFlags, Step::kCall},     {RingOp::kGetUsedEvent, Step::kCall},
      {RingOp::kGetUsedIdx, Step::kUsed},        {RingOp::kGetDescriptor, Step::kDescriptor},
      {RingOp::kPutUsedOne, Step::kUsed},        {RingOp::kPutUsedBlock, Step::kUsed},
      {RingOp::kPutUsedFlags, Step::kSuppress},  {RingOp::kPutUsedIdx, Step::kUsed},
      {RingOp::kPutAvailEvent, Step::kSuppress}};
  for (const AccessPlan& plan : {user(UserAccess::kCopyUser), mapped()}) {
    const Table table(plan);
    for (const StepRow& row : rows) {
      EXPECT_EQ(table.at(row.op).step, row.step);
      for (const Operation::Part& part : table.at(row.op).parts) EXPECT_EQ(part.step, row.step);
    }
  }
}

TEST(Operations, full_barriers_drain) {
  const Table table({});
  for (const Op op : {Op::kEnableNotifyBarrier, Op::kCallDecisionBarrier, Op::kGuestKickDecision,
                      Op::kGuestArmCall}) {
    EXPECT_EQ(table.parts(op), (Parts{{"full_barrier", 1}}));
    EXPECT_TRUE(table.at(op).drains);
  }
}

struct OpRow {
  Op op;
  Parts parts;
};

TEST(Operations, what_else_a_core_does) {
  const Table table({});
  const OpRow rows[] = {
      {Op::kTranslate, {{"translate", 1}}},
      {Op::kSendCall, {{"indirect_call", 1}, {"send_call", 1}, {"bh_pair", 1}}},
      {Op::kSinkFrame, {{"xdp_frame", 1}, {"xdp_program", 1}, {"frame_release", 1}}},
      {Op::kReleaseFrame, {{"frame_release", 1}}},
      {Op::kCall, {{"eventfd_signal", 1}, {"irq_inject", 1}}},
      {Op::kHostSend,
       {{"socket_app", 1}, {"syscall", 1}, {"udp_send", 1}, {"spin_lock", 1}, {"ring_entry", 1}}},
      {Op::kRequeue, {{"worker_requeue", 1}}},
      {Op::kScheduleIn, {{"context_switch", 1}}},
      {Op::kBusyPollTurn, {{"busy_poll_turn", 1}}},
      {Op::kGuestPacket, {{"guest_packet", 1}}},
      {Op::kGuestBurst, {{"guest_burst", 1}}},
      {Op::kGuestPublish, {{"plain_access", 1}}},
      {Op::kGuestReap, {{"plain_access", 1}}},
      {Op::kGuestKickSyscall, {{"syscall", 1}, {"eventfd_signal", 1}}},
      {Op::kGuestKickExit, {{"vm_exit", 1}}},
      {Op::kGuestPoll, {{"guest_poll", 1}}},
      {Op::kGuestInterrupt, {{"guest_interrupt", 1}}},
      {Op::kMapPage, {{"gup", 1}, {"vmap", 1}}},
      {Op::kUnmapPage, {{"vunmap", 1}, {"unpin_dirty", 1}}},
      {Op::kUnmapArea, {{"tlb_shootdown", 1}}},
      {Op::kWaitReaders, {{"rcu_grace", 1}}},
      {Op::kInvalidate, {{"mmu_notifier", 1}}},
  };
  for (const OpRow& row : rows) EXPECT_EQ(table.parts(row.op), row.parts);
}

TEST(Operations, a_page_reference_a_frame_is_an_atomic_each) {
  Parts expected = Table({}, "v5.0").parts(Op::kAllocateBuffer);
  expected["atomic_rmw"] = 1;
  EXPECT_EQ(Table({}, "v5.0-page-refs").parts(Op::kAllocateBuffer), expected);
  EXPECT_EQ(Table({}, "v5.0-page-refs").parts(Op::kAllocateSkb),
            Table({}, "v5.0").parts(Op::kAllocateSkb));
}

TEST(Operations, the_table_has_four_variants_of_the_ring_and_the_rest) {
  EXPECT_EQ(Table({}).operations.size(), 4 * kRingOps + static_cast<std::size_t>(Op::kCount));
  EXPECT_EQ(ring_variant_base({}), 0u);
  EXPECT_EQ(ring_variant_base({true, true}), 3 * kRingOps);
  EXPECT_EQ(operation_index(Op::kSectionAvail), 4 * kRingOps);
}

}  // namespace
}  // namespace vringlab::sim
