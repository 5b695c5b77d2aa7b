#include "sim/access/model_access.h"

#include <gtest/gtest.h>

#include <vector>

#include "core/ring/device_ring.h"
#include "tests/double/model_machine.h"
#include "tests/double/raw_guest.h"

namespace vringlab::sim {
namespace {

using test::occurrences;

constexpr std::uint64_t kData = 0x80000;

AccessPlan map_all(Guard guard = Guard::kNone) {
  return {.map_desc = true, .map_avail = true, .map_used = true, .guard = guard};
}

// A ring of 8 whose device half runs on the simulated machine.
struct Rig {
  test::ModelMachine model;
  QueueConfig ring;
  RingAreas areas;
  DeviceRing<ModelAccess, ModelPayload> device;
  std::vector<Piece> room = std::vector<Piece>(8);
  Chain chain{.room = room};

  explicit Rig(const AccessPlan& plan, std::uint64_t features = 0, const char* kernel = "v5.0")
      : model(plan, kernel),
        ring(test::packed_ring(8, features)),
        areas(model.areas(ring)),
        device(ModelAccess(model.context, areas, plan), ModelPayload(model.context, model.memory),
               ring) {}

  Core& core() { return model.device_core; }
  ModelAccess& access() { return device.access(); }
  std::uint64_t count(Cost cost) { return occurrences(core(), cost); }
  std::uint64_t count(Cost cost, Step step) { return occurrences(core(), cost, step); }

  // Offers `packets` chains of one descriptor.
  void offer(std::uint16_t packets) {
    for (std::uint16_t i = 0; i < packets; ++i) {
      areas.desc[i] = {kData + 0x1000u * i, 64, 0, 0};
      areas.avail[kAvailRingWord + i] = i;
    }
    areas.avail[kRingIdxWord] = packets;
  }
  void fetch() {
    RingError error = RingError::kNone;
    ASSERT_EQ(device.next_chain(chain, error), Fetch::kHead);
    ASSERT_EQ(error, RingError::kNone);
  }
};

// --- Behind an IOMMU ---

// A rig whose device sees I/O addresses; pages of memory are entered by the tests.
struct IoRig : Rig {
  IoDomain domain{8};
  std::vector<Piece> out = std::vector<Piece>(4);
  ModelPayload payload{model.context, model.memory};

  IoRig() : Rig({}) { model.context.iommu = {.domain = &domain, .ring_pages = 3}; }

  // An I/O address for pages of memory side by side.
  std::uint64_t entered(std::uint32_t page, std::uint32_t count) {
    const std::uint32_t io = domain.grow(count);
    domain.enter(io, page, count);
    return io * std::uint64_t{4096};
  }
  Result<std::size_t> translate(std::uint64_t addr, std::uint32_t len) {
    return payload.translate({addr}, len, out);
  }
  std::uint64_t misses() { return count(Cost::kIotlbMiss, Step::kTranslate); }
};

TEST(ModelPayload, each_page_of_a_buffer_misses_once_and_those_of_the_ring_first) {
  IoRig rig;
  const std::uint64_t at = rig.entered(0x80, 2);
  ASSERT_TRUE(rig.translate(at + 4000, 96).ok());
  EXPECT_EQ(rig.misses(), 3u + 1);
  ASSERT_TRUE(rig.translate(at + 4000, 97).ok());
  EXPECT_EQ(rig.misses(), 3u + 2);
  ASSERT_TRUE(rig.translate(at, 8192).ok());
  EXPECT_EQ(rig.misses(), 3u + 2);
  EXPECT_EQ(rig.model.context.iommu.misses, 5u);
  rig.domain.forget(static_cast<std::uint32_t>(at / 4096), 1);
  ASSERT_TRUE(rig.translate(at, 8192).ok());
  EXPECT_EQ(rig.misses(), 3u + 3);
  rig.domain.forget_all();
  ASSERT_TRUE(rig.translate(at, 8192).ok());
  EXPECT_EQ(rig.misses(), 3u + 3 + 3 + 2);
}

TEST(ModelPayload, a_buffer_is_where_the_page_table_says) {
  IoRig rig;
  const std::uint64_t together = rig.entered(0x80, 2);
  const std::uint64_t apart = rig.entered(0x90, 1);
  const auto one = rig.translate(together + 100, 8000);
  ASSERT_TRUE(one.ok());
  EXPECT_EQ(one.value(), 1u);
  EXPECT_EQ(rig.out[0].host, rig.model.bytes.data() + 0x80000 + 100);
  EXPECT_EQ(rig.out[0].len, 8000u);
  ASSERT_EQ(together + 8192, apart);
  const auto two = rig.translate(together + 8000, 200);
  ASSERT_TRUE(two.ok());
  ASSERT_EQ(two.value(), 2u);
  EXPECT_EQ(rig.out[0].len, 192u);
  EXPECT_EQ(rig.out[1].host, rig.model.bytes.data() + 0x90000);
  EXPECT_EQ(rig.out[1].len, 8u);
}

TEST(ModelPayload, a_buffer_takes_one_place_of_the_room_that_is_left) {
  IoRig rig;
  rig.out.resize(1);
  const std::uint64_t at = rig.entered(0x80, 2);
  rig.entered(0x90, 1);
  EXPECT_TRUE(rig.translate(at, 8192).ok());
  EXPECT_EQ(rig.translate(at, 8193).error(), RingError::kTooManyPieces);
}

TEST(ModelPayload, what_is_not_mapped_is_outside_memory) {
  IoRig rig;
  const std::uint64_t at = rig.entered(0x80, 1);
  EXPECT_EQ(rig.translate(at, 4097).error(), RingError::kAddressOutsideMemory);
  EXPECT_EQ(rig.translate(0x80000, 1).error(), RingError::kAddressOutsideMemory);
  EXPECT_EQ(rig.translate(UINT64_MAX, 2).error(), RingError::kAddressOverflow);
  EXPECT_EQ(rig.translate(at, 0).value(), 0u);
}

// --- Every operation does what it does on plain memory, and is charged ---

TEST(ModelAccess, reads_what_the_driver_wrote) {
  Rig rig({}, test::kEventIdx);
  rig.areas.avail[kRingFlagsWord] = 1;
  rig.areas.avail[kRingIdxWord] = 0x1234;
  rig.areas.avail[kAvailRingWord + 3] = 7;
  rig.areas.avail[used_event_word(8)] = 0x5678;
  rig.areas.used[kRingIdxWord] = 0x9abc;
  rig.areas.desc[5] = {kData, 99, kDescNext, 6};
  EXPECT_EQ(rig.access().get_avail_flags(), 1);
  EXPECT_EQ(rig.access().get_avail_idx(), 0x1234);
  EXPECT_EQ(rig.access().get_avail_head(3), 7);
  EXPECT_EQ(rig.access().get_used_event(), 0x5678);
  EXPECT_EQ(rig.access().get_used_idx(), 0x9abc);
  EXPECT_EQ(rig.access().get_descriptor(5), (Desc{kData, 99, kDescNext, 6}));
  EXPECT_EQ(rig.count(Cost::kStacClac), 6u);
  EXPECT_EQ(rig.count(Cost::kLfenceFloor), 6u);
}

TEST(ModelAccess, writes_what_the_driver_reads) {
  Rig rig({}, test::kEventIdx);
  const UsedElem elems[] = {{3, 30}, {4, 40}};
  rig.access().put_used_elements(6, elems, 2);
  rig.access().put_used_elements(0, elems + 1, 1);
  rig.access().put_used_flags(1);
  rig.access().put_used_idx(0x1111);
  rig.access().put_avail_event(0x2222);
  EXPECT_EQ(rig.areas.used_ring()[6], elems[0]);
  EXPECT_EQ(rig.areas.used_ring()[7], elems[1]);
  EXPECT_EQ(rig.areas.used_ring()[0], elems[1]);
  EXPECT_EQ(rig.areas.used[kRingFlagsWord], 1);
  EXPECT_EQ(rig.areas.used[kRingIdxWord], 0x1111);
  EXPECT_EQ(rig.areas.used[avail_event_word(8)], 0x2222);
  EXPECT_EQ(rig.count(Cost::kStacClac), 5u);
  EXPECT_EQ(rig.count(Cost::kLfenceFloor), 0u);
}

TEST(ModelAccess, several_elements_are_charged_by_the_byte) {
  Rig rig({});
  const std::vector<UsedElem> elems(5);
  rig.access().put_used_elements(0, elems.data(), 5);
  EXPECT_EQ(rig.count(Cost::kCopyBytes, Step::kUsed), 5 * sizeof(UsedElem));
  EXPECT_EQ(rig.count(Cost::kCopyStartup, Step::kUsed), 1u);
}

TEST(ModelAccess, an_element_written_as_words_is_no_copy) {
  Rig rig({.used_element = UsedElement::kTwoWords});
  const UsedElem elem{};
  rig.access().put_used_elements(0, &elem, 1);
  EXPECT_EQ(rig.count(Cost::kCopyBytes), 0u);
  EXPECT_EQ(rig.count(Cost::kCopyStartup), 0u);
  EXPECT_EQ(rig.count(Cost::kPlainAccess, Step::kUsed), 2u);
}

// Elements tell nobody anything before the index does.
TEST(ModelAccess, only_words_that_a_guest_polls_ring_a_bell) {
  Rig rig({}, test::kEventIdx);
  const UsedElem elem{};
  rig.access().put_used_elements(0, &elem, 1);
  (void)rig.access().get_used_idx();
  EXPECT_FALSE(rig.model.bells.any());
  rig.access().put_used_idx(1);
  EXPECT_TRUE(rig.model.bells.used_written);
  for (const auto put : {&ModelAccess::put_used_flags, &ModelAccess::put_avail_event}) {
    rig.model.bells = {};
    (rig.access().*put)(1);
    EXPECT_TRUE(rig.model.bells.used_written);
  }
}

TEST(ModelAccess, full_order_points_are_charged_and_no_others) {
  Rig rig({});
  rig.access().order<OrderPoint::kDeviceReadAvail>();
  rig.access().order<OrderPoint::kDevicePublishUsed>();
  EXPECT_EQ(rig.core().busy_ps(), 0u);
  rig.access().order<OrderPoint::kDeviceEnableNotify>();
  EXPECT_EQ(rig.count(Cost::kFullBarrier, Step::kSuppress), 1u);
  rig.access().order<OrderPoint::kDeviceCallDecision>();
  EXPECT_EQ(rig.count(Cost::kFullBarrier, Step::kCall), 1u);
}

// The order of reading: the barrier of an access drains what was outstanding before
// it, and so exposes the line that the access before it missed on.
TEST(ModelAccess, the_barrier_of_the_next_access_exposes_the_miss_of_this_one) {
  Rig rig({});
  (void)rig.access().get_avail_idx();
  EXPECT_EQ(rig.count(Cost::kBarrierDrain), 0u);
  (void)rig.access().get_descriptor(0);
  EXPECT_EQ(rig.count(Cost::kBarrierDrain, Step::kDescriptor), 1u);
  Rig mapped(map_all());
  (void)mapped.access().get_avail_idx();
  (void)mapped.access().get_descriptor(0);
  EXPECT_EQ(mapped.count(Cost::kBarrierDrain), 0u);
}

// --- Sections ---

unsigned bits(std::initializer_list<Scope> scopes) {
  unsigned sum = 0;
  for (const Scope scope : scopes) sum |= 1u << static_cast<unsigned>(scope);
  return sum;
}

TEST(SectionScopes, by_user_access_and_span) {
  AccessPlan plan;
  EXPECT_EQ(section_scopes(plan, false), 0u);
  plan.user_access = UserAccess::kMasked;
  EXPECT_EQ(section_scopes(plan, false), 0u);
  for (const UserAccess access : {UserAccess::kSection, UserAccess::kSharedFixup}) {
    plan.user_access = access;
    plan.section_span = SectionSpan::kOneArea;
    EXPECT_EQ(section_scopes(plan, false), bits({Scope::kAvail, Scope::kDesc, Scope::kUsed}));
    plan.section_span = SectionSpan::kSeveralAreas;
    EXPECT_EQ(section_scopes(plan, false), bits({Scope::kFetch, Scope::kUsed}));
  }
}

TEST(SectionScopes, none_where_all_it_would_enclose_is_mapped) {
  AccessPlan plan{.map_desc = true, .user_access = UserAccess::kSection};
  EXPECT_EQ(section_scopes(plan, false), bits({Scope::kAvail, Scope::kUsed}));
  EXPECT_EQ(section_scopes(plan, true), bits({Scope::kAvail, Scope::kDesc, Scope::kUsed}));
  plan.section_span = SectionSpan::kSeveralAreas;
  EXPECT_EQ(section_scopes(plan, false), bits({Scope::kFetch, Scope::kUsed}));
  plan.map_avail = true;
  EXPECT_EQ(section_scopes(plan, false), bits({Scope::kUsed}));
  plan.map_used = true;
  EXPECT_EQ(section_scopes(plan, false), 0u);
  EXPECT_EQ(section_scopes(plan, true), bits({Scope::kFetch, Scope::kUsed}));
}

// Toggles of one packet that is fetched with the index at hand, or with a look at it.
struct Toggles {
  std::uint64_t index;
  std::uint64_t head;
  std::uint64_t descriptor;
  bool operator==(const Toggles&) const = default;
};

// Of the first packet, which finds the index used up, and of the second.
std::pair<Toggles, Toggles> fetch_two(const AccessPlan& plan) {
  Rig rig(plan);
  rig.offer(2);
  const auto toggles = [&rig] {
    return Toggles{rig.count(Cost::kStacClac, Step::kAvailIndex),
                   rig.count(Cost::kStacClac, Step::kAvailHead),
                   rig.count(Cost::kStacClac, Step::kDescriptor)};
  };
  rig.fetch();
  const Toggles first = toggles();
  rig.fetch();
  const Toggles both = toggles();
  return {first,
          {both.index - first.index, both.head - first.head, both.descriptor - first.descriptor}};
}

TEST(Sections, a_fetch_by_get_user_toggles_for_each_word) {
  EXPECT_EQ(fetch_two({}), std::pair(Toggles{1, 1, 1}, Toggles{0, 1, 1}));
}

TEST(Sections, over_one_area_a_fetch_toggles_for_each_area) {
  EXPECT_EQ(fetch_two({.user_access = UserAccess::kSection}),
            std::pair(Toggles{1, 1, 1}, Toggles{0, 1, 1}));
}

TEST(Sections, over_several_areas_a_fetch_toggles_once) {
  for (const UserAccess access : {UserAccess::kSection, UserAccess::kSharedFixup})
    EXPECT_EQ(fetch_two({.user_access = access, .section_span = SectionSpan::kSeveralAreas}),
              std::pair(Toggles{0, 1, 0}, Toggles{0, 1, 0}));
}

TEST(Sections, a_chain_of_many_descriptors_is_one_section) {
  for (const auto& [access, toggles] :
       {std::pair(UserAccess::kCopyUser, 4u), std::pair(UserAccess::kSection, 1u)}) {
    Rig rig({.user_access = access});
    rig.offer(4);
    for (std::uint16_t i = 0; i < 3; ++i) {
      rig.areas.desc[i].flags = kDescNext;
      rig.areas.desc[i].next = static_cast<std::uint16_t>(i + 1);
    }
    rig.fetch();
    EXPECT_EQ(rig.chain.descriptors, 4);
    EXPECT_EQ(rig.count(Cost::kStacClac, Step::kDescriptor), toggles);
  }
}

TEST(Sections, elements_and_index_of_a_flush_share_one) {
  for (const auto& [access, toggles] :
       {std::pair(UserAccess::kCopyUser, 2u), std::pair(UserAccess::kSection, 1u)}) {
    Rig rig({.user_access = access});
    rig.offer(3);
    for (int i = 0; i < 3; ++i) {
      rig.fetch();
      rig.device.push_used(rig.chain.head, 0);
    }
    rig.device.flush_used();
    EXPECT_EQ(rig.count(Cost::kStacClac, Step::kUsed), toggles);
  }
}

TEST(Sections, what_follows_one_is_a_user_access_again) {
  Rig rig({.user_access = UserAccess::kSection, .section_span = SectionSpan::kSeveralAreas});
  rig.offer(1);
  rig.fetch();
  const std::uint64_t before = rig.count(Cost::kStacClac);
  (void)rig.access().get_avail_idx();
  EXPECT_EQ(rig.count(Cost::kStacClac), before + 1);
}

// --- Mappings that are there and that were taken away ---

TEST(Mapped, no_ring_access_toggles) {
  Rig rig(map_all(), test::kEventIdx);
  rig.offer(3);
  for (int i = 0; i < 3; ++i) {
    rig.fetch();
    rig.device.push_used(rig.chain.head, 0);
  }
  rig.device.flush_used();
  (void)rig.device.should_call();
  (void)rig.device.enable_notify();
  EXPECT_EQ(rig.count(Cost::kStacClac), 0u);
  EXPECT_EQ(rig.count(Cost::kLfenceFloor), 0u);
}

TEST(Unmapped, ring_accesses_are_user_accesses_until_the_mapping_is_back) {
  Rig rig(map_all(Guard::kRcu));
  const auto toggles_of_one_read = [&rig] {
    const std::uint64_t before = rig.count(Cost::kStacClac);
    (void)rig.access().get_avail_idx();
    return rig.count(Cost::kStacClac) - before;
  };
  EXPECT_EQ(toggles_of_one_read(), 0u);
  rig.model.context.set_unmapped(rig.model.plan, true);
  EXPECT_EQ(toggles_of_one_read(), 1u);
  rig.model.context.set_unmapped(rig.model.plan, false);
  EXPECT_EQ(toggles_of_one_read(), 0u);
  EXPECT_EQ(rig.count(Cost::kRcuRead), 2u);
}

TEST(Unmapped, sections_of_the_plan_are_opened) {
  AccessPlan plan = map_all();
  plan.user_access = UserAccess::kSection;
  Rig rig(plan);
  rig.offer(2);
  rig.fetch();
  EXPECT_EQ(rig.count(Cost::kStacClac), 0u);
  rig.model.context.set_unmapped(plan, true);
  rig.fetch();
  EXPECT_EQ(rig.count(Cost::kStacClac, Step::kAvailHead), 1u);
  EXPECT_EQ(rig.count(Cost::kStacClac, Step::kDescriptor), 1u);
}

// A mapping is made of base pages, guest memory of huge ones: the ring's TLB entries
// differ by how it is reached.
TEST(Pages, a_mapping_has_entries_of_its_own) {
  DeviceContext context;
  EXPECT_NE(mapped_page(0), user_page(context, 0));
  EXPECT_EQ(user_page(context, 0), user_page(context, 0x1fffff));
  EXPECT_NE(user_page(context, 0), user_page(context, 0x200000));
  EXPECT_EQ(mapped_page(0), mapped_page(0xfff));
  EXPECT_NE(mapped_page(0), mapped_page(0x1000));
  context.user_page_shift = 12;
  EXPECT_NE(user_page(context, 0), user_page(context, 0x1000));
}

TEST(Pages, the_ring_walks_a_huge_page_once_and_mapped_each_base_page) {
  const auto walks = [](const AccessPlan& plan) {
    Rig rig(plan);
    (void)rig.access().get_descriptor(0);
    (void)rig.access().get_avail_idx();
    rig.access().put_used_idx(0);
    return rig.count(Cost::kTlb);
  };
  EXPECT_EQ(walks({}), 1u);
  EXPECT_EQ(walks(map_all()), 1u);           // a small ring is one base page
  EXPECT_EQ(walks({.map_desc = true}), 2u);  // one of each kind
}

// --- Buffers ---

TEST(ModelPayload, copies_bytes_and_charges_both_ends) {
  for (const AccessPlan& plan : {AccessPlan{}, map_all()}) {
    Rig rig(plan);
    std::byte* host = rig.model.bytes.data() + 0xc0000;
    std::byte* guest = rig.model.bytes.data() + kData;
    for (std::size_t i = 0; i < 100; ++i) guest[i] = std::byte(i);
    rig.device.payload().copy_in(Transfer::kHeader, host, guest, 12);
    rig.device.payload().copy_in(Transfer::kPayload, host + 12, guest + 12, 88);
    EXPECT_TRUE(std::equal(host, host + 100, guest));
    EXPECT_EQ(rig.count(Cost::kStacClac, Step::kHeaderCopy), 1u);
    EXPECT_EQ(rig.count(Cost::kStacClac, Step::kPayloadCopy), 1u);
    EXPECT_EQ(rig.count(Cost::kCopyBytes, Step::kHeaderCopy), 12u);
    EXPECT_EQ(rig.count(Cost::kCopyBytes, Step::kPayloadCopy), 88u);
    EXPECT_EQ(rig.count(Cost::kDram, Step::kHeaderCopy), 1u);
    EXPECT_GT(rig.count(Cost::kStoreMiss), 0u);
    EXPECT_EQ(rig.count(Cost::kLfenceFloor), 0u);
  }
}

TEST(ModelPayload, copies_have_their_barrier_where_the_kernel_has_one) {
  Rig rig(map_all(), 0, "v6.2");
  std::byte* bytes = rig.model.bytes.data();
  rig.device.payload().copy_in(Transfer::kHeader, bytes + 0xc0000, bytes + kData, 12);
  rig.device.payload().copy_in(Transfer::kPayload, bytes + 0xd0000, bytes + kData + 64, 60);
  EXPECT_EQ(rig.count(Cost::kLfenceFloor), 2u);
  EXPECT_EQ(rig.count(Cost::kBarrierDrain, Step::kPayloadCopy), 1u);  // exposes the header's line
}

TEST(ModelPayload, copies_out_arrive) {
  Rig rig({});
  std::byte* bytes = rig.model.bytes.data();
  bytes[0xc0000] = std::byte{42};
  rig.device.payload().copy_out(Transfer::kPayload, bytes + kData, bytes + 0xc0000, 1);
  EXPECT_EQ(bytes[kData], std::byte{42});
  EXPECT_EQ(rig.count(Cost::kStacClac, Step::kPayloadCopy), 1u);
}

TEST(ModelPayload, copies_made_in_one_go_share_a_section) {
  Rig rig({});
  std::byte* bytes = rig.model.bytes.data();
  rig.device.payload().begin_copies();
  for (std::size_t i = 0; i < 4; ++i)
    rig.device.payload().copy_in(Transfer::kPayload, bytes + 0xc0000, bytes + kData, 60);
  rig.device.payload().end_copies();
  EXPECT_EQ(rig.count(Cost::kStacClac), 1u);
  EXPECT_EQ(rig.count(Cost::kCopyStartup), 4u);
  rig.device.payload().copy_in(Transfer::kPayload, bytes + 0xc0000, bytes + kData, 60);
  EXPECT_EQ(rig.count(Cost::kStacClac), 2u);
}

TEST(ModelPayload, each_buffer_is_looked_up) {
  Rig rig({});
  Piece pieces[2];
  const auto count = rig.device.payload().translate({kData}, 100, pieces);
  ASSERT_TRUE(count.ok());
  EXPECT_EQ(pieces[0].host, rig.model.bytes.data() + kData);
  EXPECT_EQ(rig.count(Cost::kTranslate, Step::kTranslate), 1u);
}

// --- The driver's half ---

TEST(ModelDriverAccess, writes_and_reads_without_user_access) {
  Rig rig({}, test::kEventIdx);
  ModelDriverAccess driver(rig.model.driver_core, rig.areas);
  driver.put_descriptor(1, {kData, 1, 2, 3});
  driver.put_avail_head(2, 1);
  driver.put_avail_idx(9);
  driver.put_avail_flags(1);
  driver.put_used_event(5);
  EXPECT_EQ(rig.areas.desc[1], (Desc{kData, 1, 2, 3}));
  EXPECT_EQ(rig.areas.avail[kAvailRingWord + 2], 1);
  EXPECT_EQ(rig.areas.avail[kRingIdxWord], 9);
  EXPECT_EQ(rig.areas.avail[kRingFlagsWord], 1);
  EXPECT_EQ(rig.areas.avail[used_event_word(8)], 5);
  rig.areas.used[kRingIdxWord] = 4;
  rig.areas.used[kRingFlagsWord] = 1;
  rig.areas.used[avail_event_word(8)] = 3;
  rig.areas.used_ring()[2] = {1, 7};
  EXPECT_EQ(driver.get_used_idx(), 4);
  EXPECT_EQ(driver.get_used_flags(), 1);
  EXPECT_EQ(driver.get_avail_event(), 3);
  EXPECT_EQ(driver.get_used_element(2), (UsedElem{1, 7}));
  EXPECT_EQ(occurrences(rig.model.driver_core, Cost::kStacClac), 0u);
  EXPECT_EQ(rig.core().busy_ps(), 0u);
  EXPECT_GT(rig.model.driver_core.busy_ps(), 0u);
}

TEST(ModelDriverAccess, full_order_points_are_charged_and_no_others) {
  Rig rig({});
  Core& core = rig.model.driver_core;
  ModelDriverAccess driver(core, rig.areas);
  driver.order<OrderPoint::kDriverPublishAvail>();
  driver.order<OrderPoint::kDriverReadUsed>();
  EXPECT_EQ(core.busy_ps(), 0u);
  driver.order<OrderPoint::kDriverKickDecision>();
  EXPECT_EQ(occurrences(core, Cost::kFullBarrier, Step::kGuestKick), 1u);
  driver.order<OrderPoint::kDriverEnableCallback>();
  EXPECT_EQ(occurrences(core, Cost::kFullBarrier, Step::kGuestInterrupt), 1u);
}

// What one half writes the other half's core has to fetch.
TEST(ModelDriverAccess, lines_go_back_and_forth_between_the_halves) {
  Rig rig({});
  ModelDriverAccess driver(rig.model.driver_core, rig.areas);
  driver.put_avail_idx(1);
  (void)rig.access().get_avail_idx();
  EXPECT_EQ(rig.count(Cost::kTransferSocket, Step::kAvailIndex), 1u);
  (void)rig.access().get_avail_idx();
  EXPECT_EQ(rig.count(Cost::kTransferSocket, Step::kAvailIndex), 1u);
  rig.access().put_used_idx(1);
  (void)driver.get_used_idx();
  EXPECT_EQ(occurrences(rig.model.driver_core, Cost::kTransferSocket, Step::kGuestReap), 1u);
}

}  // namespace
}  // namespace vringlab::sim
