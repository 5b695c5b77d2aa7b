// A file of zeros that goes with its object.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <vector>

namespace vringlab::test {

class TempFile {
 public:
  explicit TempFile(std::size_t bytes, const std::string& folder = default_folder()) {
    std::string path = folder + "/vringlab_XXXXXX";
    fd_ = mkstemp(path.data());
    if (fd_ < 0 || unlink(path.c_str()) != 0 || ftruncate(fd_, static_cast<off_t>(bytes)) != 0)
      std::abort();
  }
  ~TempFile() { close(fd_); }
  TempFile(const TempFile&) = delete;
  TempFile& operator=(const TempFile&) = delete;

  int fd() const { return fd_; }

  void write(const std::vector<std::byte>& bytes) const {
    if (pwrite(fd_, bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
      std::abort();
  }
  std::vector<std::byte> read() const {
    std::vector<std::byte> bytes(static_cast<std::size_t>(lseek(fd_, 0, SEEK_END)));
    if (pread(fd_, bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
      std::abort();
    return bytes;
  }

 private:
  static std::string default_folder() {
    const char* folder = std::getenv("TMPDIR");
    return folder != nullptr ? folder : "/tmp";
  }

  int fd_ = -1;
};

}  // namespace vringlab::test
