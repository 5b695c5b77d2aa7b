// Every place where the two halves of a virtqueue order their memory accesses.
// Engine code names the place; the access class knows what the place needs.
#pragma once

#include <atomic>
#include <cstdint>

namespace vringlab {

// Each line: what comes before | what comes after | the place it pairs with.
enum class OrderPoint : std::uint8_t {
  // release: descriptors, avail entries | avail.idx | kDeviceReadAvail
  kDriverPublishAvail,
  // full: avail.idx stored | used.flags or avail_event loaded | kDeviceEnableNotify
  kDriverKickDecision,
  // acquire: used.idx loaded | used elements, buffers | kDevicePublishUsed
  kDriverReadUsed,
  // full: used_event or avail.flags stored | used.idx loaded | kDeviceCallDecision
  kDriverEnableCallback,
  // acquire: avail.idx loaded | avail entries, descriptors | kDriverPublishAvail
  kDeviceReadAvail,
  // release: buffers, used elements | used.idx | kDriverReadUsed
  kDevicePublishUsed,
  // full: used.idx stored | avail.flags or used_event loaded | kDriverEnableCallback
  kDeviceCallDecision,
  // full: avail_event or used.flags stored | avail.idx loaded | kDriverKickDecision
  kDeviceEnableNotify,
  kCount
};

enum class OrderKind : std::uint8_t { kAcquire, kRelease, kFull };

constexpr OrderKind kind_of(OrderPoint point) {
  switch (point) {
    case OrderPoint::kDriverPublishAvail:
    case OrderPoint::kDevicePublishUsed:
      return OrderKind::kRelease;
    case OrderPoint::kDriverReadUsed:
    case OrderPoint::kDeviceReadAvail:
      return OrderKind::kAcquire;
    default:
      return OrderKind::kFull;
  }
}

#if defined(__SANITIZE_THREAD__)
#define VRINGLAB_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define VRINGLAB_TSAN 1
#endif
#endif

// The ordering a place needs between real threads on real memory. Acquire and
// release ride on the index words themselves (see load_word and store_word), so
// only the store-load places need an instruction of their own.
template <OrderPoint P>
inline void order_threads() {
  if constexpr (kind_of(P) == OrderKind::kFull) {
#ifdef VRINGLAB_TSAN
    // ThreadSanitizer does not model fences; a read-modify-write has the same
    // effect on x86 and is understood.
    static std::atomic<int> fence{0};
    fence.fetch_add(1, std::memory_order_seq_cst);
#else
    std::atomic_thread_fence(std::memory_order_seq_cst);
#endif
  }
}

// A ring word shared with the other half: never torn, never merged or
// repeated by the compiler. Acquire and release cost no instruction on x86.
inline std::uint16_t load_word(const std::uint16_t* word) {
  return std::atomic_ref<std::uint16_t>(*const_cast<std::uint16_t*>(word))
      .load(std::memory_order_acquire);
}
inline void store_word(std::uint16_t* word, std::uint16_t value) {
  std::atomic_ref<std::uint16_t>(*word).store(value, std::memory_order_release);
}

}  // namespace vringlab
