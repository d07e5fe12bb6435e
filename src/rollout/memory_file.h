/// Anonymous memory with a file descriptor, which other processes of the user map.
///
/// It is a memfd: it has no name in /dev/shm, so nothing is left behind however its users end, and
/// the size of /dev/shm (64 MB in containers) does not limit it. It is sparse: only touched pages
/// cost memory.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <span>

namespace traffic::rollout {

/// Owns a descriptor; -1 when default-constructed or moved from.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() { reset(); }
  Descriptor(Descriptor&& other) noexcept : fd_(other.release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    if (this != &other) {
      reset();
      fd_ = other.release();
    }
    return *this;
  }

  [[nodiscard]] int get() const { return fd_; }
  [[nodiscard]] bool is_open() const { return fd_ >= 0; }
  int release() {
    const int fd = fd_;
    fd_ = -1;
    return fd;
  }
  void reset() noexcept;

 private:
  int fd_ = -1;
};

/// A new, zeroed, sparse memory file.
/// @throws ResourceError
Descriptor create_memory_file(std::size_t size_bytes);
/// The memory file that another process of this user holds open as its descriptor fd.
/// @throws ResourceError
Descriptor open_memory_file_of(pid_t pid, int fd);

enum class Access { kReadOnly, kReadWrite };

/// Owns a mapping of a part of a memory file; empty when default-constructed or moved from.
class Mapping {
 public:
  Mapping() = default;
  /// @param offset_bytes a multiple of the page size
  /// @throws ResourceError also if the file is shorter than the part, which would end in a SIGBUS
  Mapping(const Descriptor& file, std::size_t offset_bytes, std::size_t size_bytes, Access access);
  ~Mapping() { reset(); }
  Mapping(Mapping&& other) noexcept;
  Mapping& operator=(Mapping&& other) noexcept;

  [[nodiscard]] std::span<std::byte> bytes() const { return bytes_; }

 private:
  void reset() noexcept;
  std::span<std::byte> bytes_;
};

}  // namespace traffic::rollout
