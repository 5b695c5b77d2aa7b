#include "sim/run/scenario.h"

#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <sstream>
#include <stdexcept>

#include "sim/host/sinks.h"

namespace vringlab::sim {
namespace {

// What check_scenario says; empty if it takes the scenario.
std::string refusal(const Scenario& scenario) {
  try {
    check_scenario(scenario);
  } catch (const std::invalid_argument& e) {
    return e.what();
  }
  return "";
}

using Set = std::function<void(Scenario&)>;

std::string refusal_with(const Set& set) {
  Scenario scenario{.packets = 1};
  set(scenario);
  return refusal(scenario);
}

// `low` and `high` are the ends of what is permitted, both good; the others are the
// first values outside, with what the text says of them.
template <class T>
struct Bounds {
  T Scenario::*field;
  const char* name;
  T below;
  T low;
  T high;
  T above;
  const char* permitted;
};

template <class T>
std::string text_of(T value) {
  std::ostringstream text;
  text.precision(12);
  text << value;
  return text.str();
}

template <class T>
void expect_bounds(const Bounds<T>& b) {
  const auto with = [&b](T value) {
    return refusal_with([&](Scenario& s) { s.*b.field = value; });
  };
  EXPECT_EQ(with(b.low), "") << b.name;
  EXPECT_EQ(with(b.high), "") << b.name;
  for (const T bad : {b.below, b.above}) {
    if (bad >= b.low && bad <= b.high) continue;  // no value lies outside on this side
    EXPECT_EQ(with(bad), std::string(b.name) + " = " + text_of(bad) + ": must be " + b.permitted);
  }
}

TEST(CheckScenario, the_default_is_good) { EXPECT_EQ(refusal({}), ""); }

TEST(CheckScenario, numbers_of_packets) {
  expect_bounds<std::uint64_t>({&Scenario::packets, "packets", 0, 1, 1000000000000, 1000000000001,
                                "between 1 and 1000000000000"});
}

TEST(CheckScenario, whole_numbers) {
  using S = Scenario;
  const Bounds<std::uint32_t> rows[] = {
      {&S::packet_bytes, "packet_bytes", 13, 14, 65549, 65550, "between 14 and 65549"},
      {&S::guest_burst, "guest_burst", 0, 1, 32768, 32769, "between 1 and 32768"},
      {&S::batch, "batch", 0, 1, 1024, 1025, "between 1 and 1024"},
      {&S::copy_batch, "copy_batch", 0, 1, 64, 65, "between 1 and 64"},
      {&S::weight_packets, "weight_packets", 0, 1, 1048576, 1048577, "between 1 and 1048576"},
      {&S::weight_bytes, "weight_bytes", 0, 1, 1073741824, 1073741825, "between 1 and 1073741824"},
      {&S::rx_buffer_bytes, "rx_buffer_bytes", 63, 64, 1048576, 1048577, "between 64 and 1048576"},
      {&S::iotlb_entries, "iotlb_entries", 0, 1, 65536, 65537, "between 1 and 65536"},
      {&S::swiotlb_slots, "swiotlb_slots", 127, 128, 32768, 32769, "between 128 and 32768"},
      {&S::tap_entries, "tap_entries", 0, 1, 65536, 65537, "between 1 and 65536"},
      {&S::zerocopy_min_bytes, "zerocopy_min_bytes", 13, 14, 65549, 65550, "between 14 and 65549"},
      {&S::queue_pairs, "queue_pairs", 0, 1, 5, 6, "between 1 and 5"},
      {&S::workers, "workers", 0, 1, 5, 6, "between 1 and 5"},
      {&S::worker_cores, "worker_cores", 0, 0, 0, 6, "between 0 and 5"},
      {&S::message_bytes, "message_bytes", 0, 1, 1048576, 1048577, "between 1 and 1048576"},
      {&S::sessions, "sessions", 0, 1, 8, 9, "between 1 and 8"},
      {&S::vcpus, "vcpus", 0, 1, 6, 7, "between 1 and 6"},
      {&S::inline_packets, "inline_packets", 0, 0, 1024, 1025, "between 0 and 1024"},
  };
  for (const auto& row : rows) expect_bounds(row);
}

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

TEST(CheckScenario, numbers) {
  using S = Scenario;
  const Bounds<double> rows[] = {
      {&S::busy_poll_us, "busy_poll_us", -1e-9, 0, 1e6, 1000001, "between 0 and 1000000"},
      {&S::invalidations_per_s, "invalidations_per_s", 0.00099, 0.001, 1e6, 1000001,
       "between 0.001 and 1000000"},
      {&S::nic_pps, "nic_pps", 0.00099, 0.001, 1e9, 1.001e9, "between 0.001 and 1000000000"},
      {&S::offered_pps, "offered_pps", 0.00099, 0.001, 1e9, 1.001e9,
       "between 0.001 and 1000000000"},
  };
  for (auto row : rows) {
    expect_bounds(row);
    for (const double value : {kNan, kInf, -kInf, -1.0}) {
      row.below = value;
      expect_bounds(row);
    }
    EXPECT_EQ(refusal_with([&](S& s) { s.*row.field = 0; }), "") << row.name;
  }
}

TEST(CheckScenario, guest_memory_is_bounded) {
  const auto with = [](std::uint32_t ring_size) {
    return refusal_with([&](Scenario& s) {
      s.ring_size = ring_size;
      s.packet_bytes = 65549;
    });
  };
  EXPECT_EQ(with(8192), "");
  EXPECT_EQ(with(16384),
            "packet_bytes = 65549: must be such that ring_size frames are at most 1 GiB");
}

TEST(CheckScenario, streams_go_up_a_stack_through_a_ring_that_holds_large_packets) {
  const auto stream = [](const char* sink, std::uint32_t ring_size) {
    return refusal_with([&](Scenario& s) {
      s.workload = "stream";
      s.sink = sink;
      s.ring_size = ring_size;
    });
  };
  EXPECT_EQ(stream("host_tcp", 64), "");
  EXPECT_EQ(stream("xdp_drop", 64),
            "sink = \"xdp_drop\": must be host_tcp where workload is stream or rr");
  EXPECT_EQ(stream("host_tcp", 32),
            "ring_size = 32: must be at least 64 where workload is stream or rr");
}

TEST(CheckScenario, zero_copy_is_for_transmission_without_a_program) {
  const auto with = [](const char* sink, const char* workload) {
    return refusal_with([&](Scenario& s) {
      s.zerocopy = true;
      s.sink = sink;
      s.workload = workload;
    });
  };
  EXPECT_EQ(with("macvtap", "tx"), "");
  EXPECT_EQ(with("xdp_drop", "tx"), "zerocopy = true: must be false where the sink runs a program");
  EXPECT_EQ(with("macvtap", "io"), "zerocopy = true: must be false where workload is not tx");
}

TEST(CheckScenario, what_a_workload_does_not_simulate_is_refused) {
  const auto with = [](const char* workload, auto change) {
    return refusal_with([&](Scenario& s) {
      s.workload = workload;
      change(s);
    });
  };
  const auto kicks = [](Scenario& s) { s.inline_packets = 1; };
  const auto split = [](Scenario& s) { s.split_header = true; };
  const auto polls = [](Scenario& s) { s.busy_poll_us = 2; };
  const auto invalidated = [](Scenario& s) { s.invalidations_per_s = 3; };
  const auto remote = [](Scenario& s) { s.ring_remote = true; };
  EXPECT_EQ(with("rx", kicks), "inline_packets = 1: must be 0 where workload is not tx");
  EXPECT_EQ(with("rx", split), "split_header = true: must be false where workload is not tx");
  EXPECT_EQ(with("rx", polls) + with("rx", invalidated) + with("rx", remote), "");
  const std::string end = " where workload is neither tx nor rx";
  EXPECT_EQ(with("io", polls), "busy_poll_us = 2: must be 0" + end);
  EXPECT_EQ(with("rr", invalidated), "invalidations_per_s = 3: must be 0" + end);
  EXPECT_EQ(with("stream", remote), "ring_remote = true: must be false" + end);
}

TEST(CheckScenario, one_queue_of_a_guest_kernel_is_resized) {
  const auto with = [](double often, auto change) {
    return refusal_with([&](Scenario& s) {
      s.workload = "rx";
      s.guest = "vm-kernel";
      s.resizes_per_s = often;
      change(s);
    });
  };
  const auto nothing = [](Scenario&) {};
  for (const double good : {0.0, 0.001, 1e6}) EXPECT_EQ(with(good, nothing), "") << good;
  for (const double bad : {-1.0, 0.00099, 1000001.0, kNan, kInf, -kInf})
    EXPECT_EQ(with(bad, nothing),
              "resizes_per_s = " + text_of(bad) + ": must be between 0.001 and 1000000");
  const std::string elsewhere =
      "resizes_per_s = 5: must be 0 unless workload is rx, guest vm-kernel and queue_pairs 1";
  EXPECT_EQ(with(5, [](Scenario& s) { s.guest = "vm-udp"; }), elsewhere);
  EXPECT_EQ(with(5, [](Scenario& s) { s.guest = "vm"; }), elsewhere);
  EXPECT_EQ(with(5, [](Scenario& s) { s.queue_pairs = 2; }), elsewhere);
  EXPECT_EQ(refusal_with([](Scenario& s) { s.resizes_per_s = 5; }), elsewhere);
  EXPECT_EQ(with(5, [](Scenario& s) { s.invalidations_per_s = 3; }),
            "invalidations_per_s = 3: must be 0 where resizes_per_s is not 0");
  EXPECT_EQ(with(5, [](Scenario& s) { s.ring_remote = true; }),
            "ring_remote = true: must be false where resizes_per_s is not 0");
  EXPECT_EQ(with(5, [](Scenario& s) { s.ring_size = 4; }), "");
  EXPECT_EQ(with(5, [](Scenario& s) { s.ring_size = 2; }),
            "ring_size = 2: must be at least 4 where resizes_per_s is not 0");
  const auto long_packets = [](Scenario& s) {
    s.ring_size = 16;
    s.packet_bytes = 8 * s.min_buffer_bytes + 1;
  };
  EXPECT_EQ(with(0, long_packets), "");
  EXPECT_EQ(with(5, long_packets),
            "packet_bytes = 12113: must be at most what the receive buffers of a packet hold");
}

TEST(CheckScenario, what_several_queues_do_not_have_is_refused) {
  const auto with = [](std::uint32_t pairs, auto change) {
    return refusal_with([&](Scenario& s) {
      s.queue_pairs = pairs;
      s.sink = "macvtap";
      change(s);
    });
  };
  const std::string end = " where queue_pairs is not 1";
  const auto expect = [&](const std::string& text, auto change) {
    EXPECT_EQ(with(1, change), "");
    EXPECT_EQ(with(2, change), text + end);
  };
  expect("zerocopy = true: must be false", [](Scenario& s) { s.zerocopy = true; });
  expect("inline_packets = 1: must be 0", [](Scenario& s) { s.inline_packets = 1; });
  expect("busy_poll_us = 2: must be 0", [](Scenario& s) { s.busy_poll_us = 2; });
  expect("invalidations_per_s = 3: must be 0", [](Scenario& s) { s.invalidations_per_s = 3; });
  expect("ring_remote = true: must be false", [](Scenario& s) { s.ring_remote = true; });
  EXPECT_EQ(with(5, [](Scenario& s) { s.workers = 5; }), "");
}

TEST(CheckScenario, cores_are_shared_by_the_workers_there_are) {
  const auto with = [](const char* workload, std::uint32_t pairs, std::uint32_t workers,
                       std::uint32_t cores) {
    return refusal_with([&](Scenario& s) {
      s.workload = workload;
      s.sink = "host_tcp";
      s.queue_pairs = pairs;
      s.workers = workers;
      s.worker_cores = cores;
    });
  };
  EXPECT_EQ(with("tx", 2, 3, 3) + with("rx", 5, 2, 1) + with("io", 1, 1, 1), "");
  EXPECT_EQ(with("macswap", 2, 2, 3), "worker_cores = 3: must be at most workers");
  const std::string one_queue = ": must be 0 where workload is tx or rx and queue_pairs is 1";
  EXPECT_EQ(with("tx", 1, 5, 0), "");
  EXPECT_EQ(with("tx", 1, 5, 1), "worker_cores = 1" + one_queue);
  EXPECT_EQ(with("rx", 1, 5, 5), "worker_cores = 5" + one_queue);
  EXPECT_EQ(with("stream", 2, 2, 1) + with("rr", 1, 2, 2), "");
  EXPECT_EQ(with("blk", 1, 1, 0), "");
  EXPECT_EQ(with("blk", 1, 1, 1), "worker_cores = 1: must be 0 where workload is blk");
}

// Workers that share a core have one core.
TEST(CheckScenario, cores_of_workers_that_share_them_count_once) {
  const auto with = [](std::uint32_t cores) {
    return refusal_with([&](Scenario& s) {
      s.workload = "io";
      s.sink = "xdp_tx";
      s.queue_pairs = 4;
      s.workers = 4;
      s.worker_cores = cores;
    });
  };
  EXPECT_EQ(with(3), "");
  EXPECT_EQ(with(4), "queue_pairs = 4: must be such that all cores are at most 16");
}

// Each pair has a reader too where the sink is read; of rx nothing is sent.
TEST(CheckScenario, cores_of_queue_pairs_are_bounded) {
  const auto with = [](const char* workload, std::uint32_t pairs, std::uint32_t workers) {
    return refusal_with([&](Scenario& s) {
      s.workload = workload;
      s.sink = "xdp_tx";
      s.queue_pairs = pairs;
      s.workers = workers;
    });
  };
  EXPECT_EQ(with("tx", 5, 5), "");
  EXPECT_EQ(with("rx", 5, 5), "");
  EXPECT_EQ(with("io", 4, 3), "");
  EXPECT_EQ(with("io", 4, 4), "queue_pairs = 4: must be such that all cores are at most 16");
  EXPECT_EQ(with("io", 1, 5), "");
}

TEST(CheckScenario, a_ring_that_is_read_is_not_too_long) {
  const auto with = [](const char* sink, std::uint32_t entries) {
    return refusal_with([&](Scenario& s) {
      s.sink = sink;
      s.tap_entries = entries;
    });
  };
  EXPECT_EQ(with("xdp_tx", 4096), "");
  EXPECT_EQ(with("xdp_drop", 4097), "");
  EXPECT_EQ(with("xdp_tx", 4097),
            "tap_entries = 4097: must be at most 4096 where the sink is read");
}

TEST(CheckScenario, cores_of_streams_are_bounded) {
  const auto with = [](const char* workload, std::uint32_t workers, std::uint32_t cores) {
    return refusal_with([&](Scenario& s) {
      s.workload = workload;
      s.sink = "host_tcp";
      s.queue_pairs = 5;
      s.sessions = 8;
      s.vcpus = 5;
      s.workers = workers;
      s.worker_cores = cores;
    });
  };
  EXPECT_EQ(with("rr", 2, 0) + with("stream", 5, 2), "");
  EXPECT_EQ(with("rr", 3, 0), "workers = 3: must be such that all cores are at most 16");
  EXPECT_EQ(with("stream", 3, 3), "workers = 3: must be such that all cores are at most 16");
}

TEST(CheckScenario, received_frames_fit_their_buffers) {
  const auto with = [](const char* workload, std::uint32_t bytes, bool mergeable) {
    return refusal_with([&](Scenario& s) {
      s.workload = workload;
      s.packet_bytes = bytes;
      s.mergeable = mergeable;
    });
  };
  EXPECT_EQ(with("rx", 65549, true), "");
  EXPECT_EQ(with("rx", 2048, false), "");
  EXPECT_EQ(with("rx", 2049, false),
            "packet_bytes = 2049: must be at most what the receive buffers of a packet hold");
  EXPECT_EQ(with("io", 2049, true),
            "packet_bytes = 2049: must be at most rx_buffer_bytes where frames are sent back");
  EXPECT_EQ(with("rx", 41, true), "packet_bytes = 41: must be at least 42, headers included");
}

TEST(CheckScenario, sinks) {
  for (const SinkKind& sink : sink_kinds())
    EXPECT_EQ(refusal_with([&](Scenario& s) { s.sink = sink.name; }), "") << sink.name;
  EXPECT_EQ(refusal_with([](Scenario& s) { s.sink = "tap"; }),
            "sink = \"tap\": must be one of xdp_drop, xdp_redirect, xdp_tx, xdp_pass, bridge, "
            "macvtap, host_tcp");
}

TEST(CheckScenario, ring_sizes_are_powers_of_two) {
  for (std::uint32_t size = 2; size <= 32768; size *= 2)
    EXPECT_EQ(refusal_with([&](Scenario& s) { s.ring_size = size; }), "") << size;
  for (const std::uint32_t size : {0u, 1u, 3u, 6u, 255u, 257u, 32767u, 32769u, 65536u, 0x80000000u})
    EXPECT_EQ(
        refusal_with([&](Scenario& s) { s.ring_size = size; }),
        "ring_size = " + std::to_string(size) + ": must be a power of two between 2 and 32768");
}

TEST(CheckScenario, ring_offsets_are_aligned_and_in_the_first_page) {
  for (const std::uint32_t offset : {0u, 16u, 2048u, 4080u})
    EXPECT_EQ(refusal_with([&](Scenario& s) { s.ring_offset = offset; }), "") << offset;
  for (const std::uint32_t offset : {1u, 8u, 15u, 17u, 4088u, 4095u, 4096u})
    EXPECT_EQ(refusal_with([&](Scenario& s) { s.ring_offset = offset; }),
              "ring_offset = " + std::to_string(offset) + ": must be a multiple of 16 below 4096");
}

TEST(CheckScenario, page_sizes) {
  EXPECT_EQ(refusal_with([](Scenario& s) { s.guest_page_bytes = 4096; }), "");
  for (const std::uint64_t bytes : {0u, 4095u, 4097u, 65536u, 1u << 30})
    EXPECT_EQ(refusal_with([&](Scenario& s) { s.guest_page_bytes = bytes; }),
              "guest_page_bytes = " + std::to_string(bytes) + ": must be 4096 or 2097152");
}

struct Choice {
  std::string Scenario::*field;
  const char* name;
  std::vector<std::string> permitted;
  std::vector<std::string> elsewhere = {};  // permitted with other fields than the defaults
};

TEST(CheckScenario, names_are_among_those_there_are) {
  using S = Scenario;
  const Choice rows[] = {
      {&S::distance, "distance", {"same_ccx", "same_socket", "remote"}},
      {&S::guest, "guest", {"virtio-user", "vm", "vm-pktgen"}, {"vm-kernel", "vm-udp", "vm-xsk"}},
      {&S::guest_notify, "guest_notify", {"poll", "interrupt"}},
      {&S::arrival, "arrival", {"periodic", "poisson"}}};
  for (const Choice& row : rows) {
    std::string names;
    for (const std::string& name : row.permitted) {
      EXPECT_EQ(refusal_with([&](S& s) { s.*row.field = name; }), "") << row.name << ' ' << name;
      names += " " + name;
    }
    for (const std::string& name : row.elsewhere) names += " " + name;
    for (const std::string bad : {"", "Remote", "no"})
      EXPECT_EQ(refusal_with([&](S& s) { s.*row.field = bad; }),
                std::string(row.name) + " = \"" + bad + "\": must be one of" + names);
  }
}

TEST(CheckScenario, presets_and_costs_are_checked_before_anything_runs) {
  EXPECT_NE(refusal_with([](Scenario& s) { s.host = "z80"; }).find("host = \"z80\""),
            std::string::npos);
  EXPECT_NE(refusal_with([](Scenario& s) { s.kernel = "v9"; }).find("kernel = \"v9\""),
            std::string::npos);
  EXPECT_NE(refusal_with([](Scenario& s) {
              s.costs = {{"load.dram", kNan}};
            }).find("load.dram"),
            std::string::npos);
  EXPECT_NE(refusal_with([](Scenario& s) {
              s.costs = {{"nothing", 1}};
            }).find("nothing"),
            std::string::npos);
}

TEST(CheckScenario, the_iotlb_is_not_simulated) {
  for (const Translation t : {Translation::kIotlb, Translation::kIotlbMetadataCache})
    EXPECT_NE(refusal_with([&](Scenario& s) { s.plan.translation = t; }).find("plan.translation"),
              std::string::npos);
}

// The clock is 64 bits of picoseconds: 213 days.
TEST(CheckScenario, a_run_fits_the_clock) {
  Scenario s{.packets = 1000000, .offered_pps = 1};
  EXPECT_EQ(refusal(s), "");
  s.packets = 1000001;
  EXPECT_EQ(refusal(s), "packets = 1000001: must be at most offered_pps times 1e6 s");
  s.offered_pps = 0;
  EXPECT_EQ(refusal(s), "");
}

TEST(CheckScenario, a_guest_kernel_receives_and_nothing_else) {
  const auto kernel = [](auto change) {
    return refusal_with([&](Scenario& s) {
      s.workload = "rx";
      s.guest = "vm-kernel";
      change(s);
    });
  };
  EXPECT_EQ(kernel([](Scenario&) {}), "");
  for (const char* mode : {"off", "passthrough", "lazy", "strict"})
    EXPECT_EQ(kernel([&](Scenario& s) { s.iommu = mode; }), "");
  EXPECT_NE(kernel([](Scenario& s) { s.iommu = "on"; }).find("iommu = \"on\""), std::string::npos);
  EXPECT_NE(kernel([](Scenario& s) { s.workload = "tx"; }).find("guest"), std::string::npos);
  EXPECT_NE(kernel([](Scenario& s) { s.mergeable = false; }).find("mergeable"), std::string::npos);
  EXPECT_NE(kernel([](Scenario& s) { s.indirect = true; }).find("indirect"), std::string::npos);
  for (const std::uint32_t bytes : {0u, 4095u, 4097u, (1u << 20) + 4096})
    EXPECT_NE(kernel([&](Scenario& s) { s.fragment_bytes = bytes; }), "") << bytes;
  for (const std::uint32_t bytes : {4096u, 1u << 20})
    EXPECT_EQ(kernel([&](Scenario& s) { s.fragment_bytes = bytes; }), "") << bytes;
  EXPECT_NE(refusal_with([](Scenario& s) { s.iommu = "lazy"; }), "");
  EXPECT_NE(refusal_with([](Scenario& s) { s.dma_merge = true; }), "");
}

// With a guest that has an application and a workload, what `change` makes of it.
std::string refusal_of(const char* guest, const char* workload, auto change) {
  return refusal_with([&](Scenario& s) {
    s.guest = guest;
    s.workload = workload;
    change(s);
  });
}

TEST(CheckScenario, guests_with_sockets_send_and_receive) {
  for (const char* guest : {"vm-udp", "vm-xsk"}) {
    for (const char* workload : {"tx", "rx"}) {
      const auto refused = [&](auto change) { return refusal_of(guest, workload, change); };
      EXPECT_EQ(refused([](Scenario&) {}), "") << guest << workload;
      EXPECT_NE(refused([](Scenario& s) { s.queue_pairs = 2; }).find("queue_pairs = 2"),
                std::string::npos);
      EXPECT_NE(refused([](Scenario& s) { s.split_header = true; }).find("split_header"),
                std::string::npos);
    }
    for (const char* workload : {"io", "macswap"})
      EXPECT_NE(refusal_of(guest, workload, [](Scenario&) {}).find("guest"), std::string::npos);
    EXPECT_NE(refusal_of(guest, "rx", [](Scenario& s) { s.indirect = true; }).find("indirect"),
              std::string::npos);
    EXPECT_NE(refusal_of(guest, "rx", [](Scenario& s) { s.mergeable = false; }).find("mergeable"),
              std::string::npos);
    EXPECT_NE(refusal_of(guest, "tx",
                         [](Scenario& s) {
                           s.sink = "macvtap";
                           s.zerocopy = true;
                         })
                  .find("zerocopy"),
              std::string::npos);
  }
  const auto without_napi = [](Scenario& s) { s.napi_tx = false; };
  EXPECT_EQ(refusal_of("vm-udp", "tx", without_napi), "");
  EXPECT_NE(refusal_of("vm-udp", "rx", without_napi).find("napi_tx"), std::string::npos);
  EXPECT_NE(refusal_of("vm-pktgen", "tx", without_napi).find("napi_tx"), std::string::npos);
  const auto by_udp = [](Scenario& s) { s.sender = "udp"; };
  EXPECT_EQ(refusal_of("vm-xsk", "rx", by_udp), "");
  EXPECT_NE(refusal_of("vm-udp", "tx", by_udp).find("sender"), std::string::npos);
  EXPECT_NE(refusal_of("vm-udp", "rx", [](Scenario& s) { s.sender = "tcp"; }).find("pktgen udp"),
            std::string::npos);
  EXPECT_NE(refusal_of("vm-udp", "tx", [](Scenario& s) { s.iommu = "lazy"; }), "");
  EXPECT_EQ(refusal_of("vm-udp", "rx", [](Scenario& s) { s.iommu = "lazy"; }), "");
  EXPECT_EQ(refusal_of("vm-udp", "rx", [](Scenario& s) { s.dma_merge = true; }), "");
  EXPECT_NE(refusal_of("vm-xsk", "rx", [](Scenario& s) { s.dma_merge = true; }), "");
}

TEST(CheckScenario, an_af_xdp_socket_has_room_for_what_it_is_given) {
  const auto sends = [](auto change) { return refusal_of("vm-xsk", "tx", change); };
  for (const std::uint32_t entries : {0u, 32u, 63u, 65u, 65536u})
    EXPECT_NE(sends([&](Scenario& s) { s.xsk_ring = entries; }).find("xsk_ring"),
              std::string::npos);
  for (const std::uint32_t entries : {64u, 32768u})
    EXPECT_EQ(sends([&](Scenario& s) { s.xsk_ring = entries; }), "");
  EXPECT_NE(sends([](Scenario& s) { s.xsk_ring = 64, s.guest_burst = 33; }), "");
  EXPECT_EQ(sends([](Scenario& s) { s.xsk_ring = 64, s.guest_burst = 32; }), "");
  EXPECT_EQ(sends([](Scenario& s) { s.packet_bytes = 4096; }), "");
  EXPECT_NE(sends([](Scenario& s) { s.packet_bytes = 4097; }), "");
  EXPECT_NE(sends([](Scenario& s) { s.sink = "xdp_tx"; }).find("sink"), std::string::npos);
  EXPECT_EQ(sends([](Scenario& s) { s.iommu = "strict"; }), "");
  EXPECT_NE(sends([](Scenario& s) { s.iommu = "strict", s.indirect = true; }), "");
  const auto receives = [](auto change) { return refusal_of("vm-xsk", "rx", change); };
  EXPECT_EQ(receives([](Scenario& s) { s.packet_bytes = 3840; }), "");
  EXPECT_NE(receives([](Scenario& s) { s.packet_bytes = 3841; }), "");
}

TEST(CheckScenario, polls_are_deferred_where_a_kernel_receives) {
  for (const char* guest : {"vm-kernel", "vm-udp", "vm-xsk"}) {
    EXPECT_EQ(refusal_of(guest, "rx", [](Scenario& s) { s.napi_defer_us = 1e6; }), "");
    EXPECT_NE(refusal_of(guest, "rx", [](Scenario& s) { s.napi_defer_us = 1e6 + 1; }), "");
    EXPECT_NE(refusal_of(guest, "rx", [](Scenario& s) { s.napi_defer_us = kNan; }), "");
  }
  EXPECT_NE(refusal_of("vm-xsk", "tx", [](Scenario& s) { s.napi_defer_us = 1; }), "");
  EXPECT_NE(refusal_with([](Scenario& s) { s.napi_defer_us = 1; }), "");
  for (const std::uint32_t bytes : {0u, 41u, 4085u})
    EXPECT_NE(refusal_of("vm-kernel", "rx", [&](Scenario& s) { s.min_buffer_bytes = bytes; }), "");
  for (const std::uint32_t bytes : {42u, 4084u})
    EXPECT_EQ(refusal_of("vm-kernel", "rx", [&](Scenario& s) { s.min_buffer_bytes = bytes; }), "");
  EXPECT_NE(refusal_of("vm-xsk", "rx", [](Scenario& s) { s.iommu = "swiotlb"; }), "");
}

TEST(CheckScenario, packets_that_wait_in_a_socket_fit_into_memory) {
  const auto receives = [](auto change) { return refusal_of("vm-udp", "rx", change); };
  for (const std::uint32_t bytes : {0u, 255u, (1u << 28) + 1})
    EXPECT_NE(
        receives([&](Scenario& s) { s.receive_buffer_bytes = bytes; }).find("receive_buffer_bytes"),
        std::string::npos);
  EXPECT_EQ(receives([](Scenario& s) { s.receive_buffer_bytes = 256; }), "");
  EXPECT_NE(receives([](Scenario& s) { s.receive_buffer_bytes = 1u << 28; }).find("fragment_bytes"),
            std::string::npos);
}

}  // namespace
}  // namespace vringlab::sim
