// What the kernel does for one thread: system calls, an eventfd, the page cache.
#include <stdexcept>

#include "measure/probe.h"

#ifdef __linux__
#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>
#endif

namespace vringlab::measure {
namespace {

#ifdef __linux__

constexpr auto linux_missing = nothing_missing;

// Without cycles: the counter has only those in user space.
Reading stop(Meter& meter) { return {.ns = meter.stop().ns, .cycles = 0}; }

Reading system_call(Meter& meter, const Place&, std::uint32_t times) {
  meter.start();
  for (std::uint32_t i = 0; i < times; ++i) (void)syscall(SYS_getppid);
  return stop(meter);
}

// A descriptor that is closed when it goes.
class Fd {
 public:
  Fd(int fd, const std::string& what) : fd_(fd) {
    if (fd_ < 0) throw std::runtime_error(what + ": can't be opened");
  }
  ~Fd() { close(fd_); }
  Fd(const Fd&) = delete;
  Fd& operator=(const Fd&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

// Nobody waits for it.
Reading eventfd_write(Meter& meter, const Place&, std::uint32_t times) {
  const Fd fd(eventfd(0, EFD_NONBLOCK), "eventfd");
  const std::uint64_t one = 1;
  meter.start();
  for (std::uint32_t i = 0; i < times; ++i) {
    if (write(fd.get(), &one, sizeof(one)) != sizeof(one)) throw std::runtime_error("eventfd");
  }
  return stop(meter);
}

constexpr std::size_t kFileBytes = 1 << 20;

// A file without a name in the folder, all of it in the page cache.
int open_cached_file(const std::string& folder) {
  std::string path = folder + "/vringlab.XXXXXX";
  const int fd = mkstemp(path.data());
  if (fd < 0) throw std::runtime_error(folder + ": no file can be made there");
  unlink(path.c_str());
  const std::vector<char> zeros(kFileBytes);
  if (write(fd, zeros.data(), zeros.size()) != static_cast<ssize_t>(zeros.size())) {
    close(fd);
    throw std::runtime_error(folder + ": no room for 1 MiB");
  }
  return fd;
}

template <auto kCall, std::size_t kBytes>
Reading file_io(Meter& meter, const Place& place, std::uint32_t times) {
  const Fd fd(open_cached_file(place.folder), place.folder);
  std::vector<char> buffer(kBytes);
  std::size_t at = 0;
  meter.start();
  for (std::uint32_t i = 0; i < times; ++i) {
    if (kCall(fd.get(), buffer.data(), kBytes, static_cast<off_t>(at)) !=
        static_cast<ssize_t>(kBytes))
      throw std::runtime_error(place.folder + ": a file is short");
    at = (at + kBytes) % kFileBytes;
  }
  return stop(meter);
}
constexpr auto kRead = [](int fd, void* p, std::size_t n, off_t at) { return pread(fd, p, n, at); };
constexpr auto kWrite = [](int fd, void* p, std::size_t n, off_t at) {
  return pwrite(fd, p, n, at);
};

constexpr auto read_page = file_io<kRead, 4096>, read_pages = file_io<kRead, 65536>,
               write_page = file_io<kWrite, 4096>, write_pages = file_io<kWrite, 65536>;

#else

std::string linux_missing(const Place&) { return "not Linux"; }
Reading absent(Meter&, const Place&, std::uint32_t) { return {}; }
constexpr auto system_call = absent, eventfd_write = absent, read_page = absent,
               read_pages = absent, write_page = absent, write_pages = absent;

#endif

}  // namespace

void add_system(std::vector<Probe>& all) {
  all.insert(
      all.end(),
      {{"system_call", "getppid, into the kernel and back", 2048, linux_missing, system_call},
       {"eventfd_write", "write to an eventfd that nobody waits for", 1024, linux_missing,
        eventfd_write},
       {"page_cache_read.4096", "4 KiB read from the page cache", 256, linux_missing, read_page},
       {"page_cache_read.65536", "64 KiB read from the page cache", 64, linux_missing, read_pages},
       {"page_cache_write.4096", "4 KiB written into the page cache", 256, linux_missing,
        write_page},
       {"page_cache_write.65536", "64 KiB written into the page cache", 64, linux_missing,
        write_pages}});
}

}  // namespace vringlab::measure
