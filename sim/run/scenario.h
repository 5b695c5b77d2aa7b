// What is simulated, as a plain struct: the only way in.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/access/plan.h"
#include "sim/cost/model.h"

namespace vringlab::sim {

// A block device and what a guest asks of it: of the workload "blk".
struct BlkScenario {
  // Who serves the queues. vhost-2010: a kernel thread that reads and writes a file, one
  // request at a time; vhost-bio: one that gives requests to the block layer; vmm: a process
  // in user space; host: nobody, the jobs run on the host itself.
  std::string form = "vhost-bio";
  std::string disk = "nvme";            // a disk preset
  std::uint64_t disk_bytes = 1u << 30;  // capacity
  std::string cache = "none";           // of the file: none, writeback, writethrough
  std::string engine = "threads";       // of a vmm: threads, aio, io_uring
  std::uint32_t pool_threads = 64;      // of the engine threads
  bool merge_writes = true;             // a vmm makes one of adjacent writes of a batch
  std::string kick = "ioeventfd";       // of a vmm: ioeventfd, or exit: the kick is served there
  std::string interrupt = "irqfd";      // of a vmm: irqfd, or ioctl
  std::uint32_t sector_shift = 9;       // 8: the fault of the prototype of 2010
  std::uint32_t queues = 1;

  // The jobs.
  std::string operation = "read";    // read, write, mixed, write-read
  std::string pattern = "random";    // random, sequential
  double read_share = 0.5;           // of mixed
  std::uint64_t block_bytes = 4096;  // of an I/O
  std::uint32_t jobs = 1;            // each a process
  std::uint32_t queue_depth = 32;    // I/Os of a job at once; 1: each is waited for
  std::uint32_t flush_every = 0;     // a flush after so many writes of a job; 0: never

  // The guest's block layer.
  std::uint32_t segment_bytes = 4096;    // of one descriptor
  std::uint32_t max_segments = 128;      // of a request, header and status apart
  std::uint64_t request_bytes = 524288;  // of the largest request

  // The host's page cache.
  std::uint64_t read_ahead_bytes = 131072;
  std::uint64_t cache_bytes = 1u << 30;
  double dirty_share = 0.2;       // of it may be dirty before writers wait
  double background_share = 0.1;  // and before it is written back

  bool data = false;  // bytes are moved, not only their time spent

  bool operator==(const BlkScenario&) const = default;
};

struct Scenario {
  // Where it runs.
  std::string host = "broadwell-2.6";    // a host preset
  std::string kernel = "v5.0";           // a kernel preset
  std::vector<CostOverride> costs;       // rows set to other values
  std::string distance = "same_socket";  // guest core to worker core: same_ccx, same_socket, remote
  bool ring_remote = false;              // the ring's pages have their home on the other socket
  std::uint64_t guest_page_bytes = 2097152;  // page size of guest memory: 4096 or 2097152

  // What goes on: "tx", a guest that transmits; "rx", a generator in the host and a
  // guest that receives; "stream", TCP streams from the guest to the host, whose
  // sink is host_tcp; "io" and "macswap", queue pairs: a generator in the host, a guest
  // that sends each frame back, by way of the sink; "rr", as stream, but each write is a
  // request and the next waits for its answer; "blk", jobs that read and write a disk.
  std::string workload = "tx";

  // The guest: testpmd, txonly or rxonly.
  // virtio-user: a process, kicks are system calls; vm: kicks are exits; vm-pktgen: the
  // generator of a guest kernel, which publishes each frame and is called when the ring
  // has room again; vm-kernel: a guest kernel that receives into a socket that nobody reads;
  // vm-udp: a process that writes or reads a UDP socket, frame by frame; vm-xsk: one with an
  // AF_XDP socket, without a copy.
  std::string guest = "virtio-user";
  std::string guest_notify = "poll";  // poll: never called; interrupt: sleeps when the ring is full
  std::uint64_t packets = 100000;     // frames to send, or to receive
  std::uint32_t packet_bytes = 64;    // frame length, virtio-net header not counted
  std::uint32_t guest_burst = 32;     // frames between two publications of avail.idx
  bool mergeable = true;              // MRG_RXBUF negotiated
  // Of a guest kernel: off, passthrough, lazy, strict; swiotlb: all bounces.
  std::string iommu = "off";
  bool dma_merge = false;                 // one mapping a fragment; else one a buffer
  std::uint32_t fragment_bytes = 32768;   // that its receive buffers are cut from
  std::uint32_t iotlb_entries = 64;       // pages that the IOTLB holds for the device
  std::uint32_t swiotlb_slots = 4096;     // of 2 KiB, in the bounce pool of a guest core
  std::uint32_t rx_buffer_bytes = 2048;   // of a receive buffer, its header apart
  std::uint32_t min_buffer_bytes = 1514;  // of packet, that a receiving kernel's buffer takes
  double napi_defer_us = 0;  // after a poll that found something until the next, interrupts off
  std::uint32_t xsk_ring = 2048;                // entries of each ring of an AF_XDP socket
  std::uint32_t receive_buffer_bytes = 212992;  // of a UDP socket: memory of packets that wait
  bool napi_tx = true;        // of a process that sends by UDP: a softirq frees what was sent
  bool split_header = false;  // header in a descriptor of its own
  // Who sends what a guest receives: pktgen, the generator of the host's kernel; udp, a process of
  // the host, a small message a system call, by a socket whose route is the TAP.
  std::string sender = "pktgen";
  double offered_pps = 0;            // packets a second; 0: as fast as the guest can
  std::string arrival = "periodic";  // periodic or poisson, where offered_pps is set

  // Queue pairs; of tx and rx, queues. Each has a guest core and a generator of its own; of
  // streams, its share of the sessions.
  std::uint32_t queue_pairs = 1;
  std::uint32_t workers = 1;       // that serve the queues of the pairs in turn
  std::uint32_t worker_cores = 0;  // that the workers share in turn; 0: each has its own

  // TCP streams.
  std::uint32_t message_bytes = 16384;  // of one write
  std::uint32_t sessions = 1;           // streams, each written by a process of its own
  std::uint32_t vcpus = 4;              // virtual processors that the writers share
  // That a stream may have unsent or unacknowledged: what Linux gives a flow of ten
  // segments, and more only to one that its congestion window limits.
  std::uint64_t send_buffer_bytes = 65536;
  double stream_ms = 10;  // simulated time, milliseconds

  // The ring.
  std::uint32_t ring_size = 256;  // entries
  std::uint32_t ring_offset = 0;  // bytes from a page start to the descriptor table
  bool event_idx = false;         // EVENT_IDX negotiated
  bool indirect = false;          // INDIRECT_DESC negotiated

  // The device: vhost-net transmit into a socket.
  AccessPlan plan;                         // how ring metadata is reached
  std::uint32_t tap_entries = 500;         // frames that wait in the TAP for the worker or a reader
  std::string sink = "xdp_drop";           // what the socket is and does with a frame
  bool tx_batching = true;                 // XDP buffers in batches; else one call a frame
  bool zerocopy = false;                   // long frames are lent to the socket, not copied
  std::uint32_t zerocopy_min_bytes = 256;  // of a frame that is lent
  std::uint32_t batch = 64;                // frames to the socket, and chains given back, at once
  double nic_pps = 0;                      // what a NIC behind the sink sends; 0: everything
  std::uint32_t copy_batch = 1;            // packets whose copies share one user access section
  std::uint32_t weight_packets = 256;      // packets of one run of the loop
  std::uint32_t weight_bytes = 0x80000;    // bytes of one run of the loop
  double busy_poll_us = 0;                 // polls that long before it sleeps
  std::uint32_t inline_packets = 0;        // packets that a kick serves without waking the worker
  double invalidations_per_s = 0;          // the ring's mapping is invalidated that often
  // The guest resizes its receive queue so often, between ring_size and half of it in turn.
  double resizes_per_s = 0;

  BlkScenario blk;  // of the workload "blk", where a packet is an I/O

  // The simulation itself.
  std::uint64_t seed = 0;      // of random arrivals
  std::uint64_t tie_seed = 0;  // 0: equal clocks go by actor; else permuted
  bool skip_polls = true;      // empty guest polls are accounted in a row, not stepped
};

// Does the guest's kernel receive into buffers cut from fragments?
bool cuts_buffers(const Scenario& scenario);

// How many fragments a receiving kernel has: for all buffers of the ring, however long, some in
// the stack, and one for each packet that may wait in a socket. Each of these may hold one alone,
// those around it being dropped.
std::uint32_t kernel_fragments(const Scenario& scenario);

// Of a bounce pool, and the longest mapping it takes: as Linux has them.
inline constexpr std::uint32_t kSwiotlbSlotBytes = 2048;
inline constexpr std::uint32_t kSwiotlbMaxBytes = 128 * kSwiotlbSlotBytes;

// How many cores the workers have.
std::uint32_t worker_core_count(const Scenario& scenario);

// How many cores a scenario of queue pairs has: those of each pair, workers, and control.
std::uint32_t pair_cores(const Scenario& scenario);

// And one of streams: virtual processors, readers, workers, and control.
std::uint32_t stream_cores(const Scenario& scenario);

// What Scenario::sink may name.
struct SinkInfo {
  std::string name;
  std::string doc;
  bool program = false;    // runs an XDP program on each frame
  std::uint32_t held = 0;  // frames that something behind it holds before it frees them
};
std::vector<SinkInfo> sink_infos();

// Throws std::invalid_argument that names the field, its value and what is permitted.
void check_scenario(const Scenario& scenario);

}  // namespace vringlab::sim
