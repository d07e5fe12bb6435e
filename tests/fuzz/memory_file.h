/// A file in memory (/dev/shm) with given bytes, from which a fuzz target reads its input. It has a
/// path, because HDF5 looks up the real path of a file.
#pragma once

#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

namespace traffic::fuzz {

class MemoryFile {
 public:
  MemoryFile(const std::uint8_t* data, std::size_t size) : fd_(mkstemp(path_.data())) {
    if (fd_ < 0) std::abort();
    while (size > 0) {
      const ssize_t written = write(fd_, data, size);
      if (written <= 0) std::abort();
      data += written;
      size -= static_cast<std::size_t>(written);
    }
  }
  ~MemoryFile() {
    close(fd_);
    unlink(path_.c_str());
  }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_ = "/dev/shm/traffic_fuzz.XXXXXX";
  int fd_;
};

}  // namespace traffic::fuzz
