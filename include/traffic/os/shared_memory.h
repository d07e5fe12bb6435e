/// Memory that several processes of a user share through a file descriptor.
///
/// The memory is a memfd of Linux. It has no name in /dev/shm, so nothing is left behind even if
/// its processes are killed. The size of /dev/shm (64 MB in containers) does not limit it. The
/// memory is freed once no process has a descriptor or a mapping of it.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <span>
#include <string>

#include "traffic/os/descriptor.h"

namespace traffic::os {

enum class Allocation {
  kAtOnce,  ///< reserves all pages now; if memory is short, the call fails
  kSparse,  ///< takes memory only for pages that a process accesses; if memory is short, the access
            ///< raises a signal
};

/// Creates memory that contains zeros.
/// @param name what the memory is, for open_memory_file_of() and for /proc
/// @throws std::system_error
Descriptor create_memory_file(const std::string& name, std::size_t size_bytes,
                              Allocation allocation);
/// Opens the memory that another process of this user holds open as its descriptor fd.
/// @throws std::system_error with the path. Its code is ENXIO if the descriptor is not memory of
/// this name, for example because the pid belongs to another pid namespace
Descriptor open_memory_file_of(pid_t pid, int fd, const std::string& name);

enum class Access {
  kReadOnly,
  kReadWrite,
  kReadWriteTouched,  ///< maps every page now, so that later accesses cause no page faults
};

/// Owns a mapping of a part of a memory file. It is empty after default construction and after a
/// move.
class Mapping {
 public:
  Mapping() = default;
  /// @param offset_bytes a multiple of the page size
  /// @throws std::system_error, also if the file ends before the end of the part; access beyond the
  ///   end would raise SIGBUS
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
