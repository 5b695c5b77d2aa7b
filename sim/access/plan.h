// The access plan: how a kernel design reads and writes ring metadata. Data, not
// a type: build_operations turns it into one cost per operation.
#pragma once

#include <cstdint>
#include <string>

namespace vringlab::sim {

// What protects a mapping against being invalidated while it is used.
enum class Guard : std::uint8_t {
  kNone,      // nothing: the mapping can't be invalidated
  kRcu,       // an RCU read-side section an access
  kCounter,   // a counter raised and dropped, a full barrier each
  kSpinlock,  // a lock held an access
  kAtomic     // an atomic count raised and dropped
};

// How an area that isn't mapped is reached.
enum class UserAccess : std::uint8_t {
  kCopyUser,    // get_user and put_user, one toggle, check and barrier each
  kMasked,      // the address is masked: no check, no barrier
  kSection,     // user_access_begin .. end around several accesses
  kSharedFixup  // a section whose accesses share one exception fixup
};

enum class SectionSpan : std::uint8_t { kOneArea, kSeveralAreas };

// How one single used element is written; several are always a block copy.
enum class UsedElement : std::uint8_t { kTwoWords, kBlock };

// How a ring address becomes a host address.
enum class Translation : std::uint8_t {
  kUserAddress,        // the VMM's address, fixed at set-up
  kIotlb,              // the device IOTLB, looked up an access
  kIotlbMetadataCache  // the same with the per-area cache
};

struct AccessPlan {
  bool map_desc = false;
  bool map_avail = false;
  bool map_used = false;
  Guard guard = Guard::kRcu;
  UserAccess user_access = UserAccess::kCopyUser;
  SectionSpan section_span = SectionSpan::kOneArea;
  UsedElement used_element = UsedElement::kBlock;
  Translation translation = Translation::kUserAddress;

  bool maps_any() const { return map_desc || map_avail || map_used; }
};

}  // namespace vringlab::sim
