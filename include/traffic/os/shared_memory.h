/// Anonymous memory with a file descriptor, which other processes of the user map.
///
/// It is a memfd: it has no name in /dev/shm, so nothing is left behind however its users end, and
/// the size of /dev/shm (64 MB in containers) does not limit it. It lives as long as a descriptor
/// or a mapping of it.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <span>
#include <string>

#include "traffic/os/descriptor.h"

namespace traffic::os {

enum class Allocation {
  kAtOnce,  ///< reserves all pages now; too little memory is an error now, not a signal later
  kSparse,  ///< only touched pages cost memory
};

/// New, zeroed memory.
/// @param name what the memory is, for open_memory_file_of() and for /proc
/// @throws std::system_error
Descriptor create_memory_file(const std::string& name, std::size_t size_bytes,
                              Allocation allocation);
/// The memory that another process of this user holds open as its descriptor fd.
/// @throws std::system_error with the path; ENXIO if the descriptor is not memory of that name, for
/// example because the pid is that of another pid namespace
Descriptor open_memory_file_of(pid_t pid, int fd, const std::string& name);

enum class Access {
  kReadOnly,
  kReadWrite,
  kReadWriteTouched,  ///< maps every page now, so that later accesses cause no page faults
};

/// Owns a mapping of a part of a memory file; empty when default-constructed or moved from.
class Mapping {
 public:
  Mapping() = default;
  /// @param offset_bytes a multiple of the page size
  /// @throws std::system_error also if the file is shorter than the part, which would end in a
  /// SIGBUS
  Mapping(const Descriptor& file, std::size_t offset_bytes, std::size_t size_bytes, Access access);
  ~Mapping() { reset(); }
  Mapping(Mapping&& other) noexcept;
  Mapping& operator=(Mapping&& other) noexcept;

  [[nodiscard]] std::span<std::byte> bytes() const { return bytes_; }

 private:
  void reset() noexcept;
  std::span<std::byte> bytes_;
};

}  // namespace traffic::os
