/// Memory that the ranks of one node map together.
///
/// It is an anonymous file (memfd) that the other ranks open through /proc/PID/fd: it has no name
/// in /dev/shm, so nothing can be left behind however a process ends, and the size of /dev/shm
/// (64 MB in containers) does not limit it; the machine's memory does.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>

namespace traffic::comm {

/// Owns one mapping; null when default-constructed or moved from.
class SharedSegment {
 public:
  SharedSegment() = default;
  ~SharedSegment();
  SharedSegment(SharedSegment&& other) noexcept;
  SharedSegment& operator=(SharedSegment&& other) noexcept;

  /// Zeroed memory, allocated at once so that lack of memory shows here and not as a signal later.
  /// @throws ResourceError naming what is needed and what is free
  static SharedSegment create(std::size_t size_bytes);
  /// Maps the segment that another process of this user created, as its descriptor is still open.
  /// @throws ResourceError
  static SharedSegment open(pid_t pid, int descriptor, std::size_t size_bytes);

  /// Once all have it mapped: a segment lives as long as its mappings.
  void close_descriptor();

  [[nodiscard]] std::byte* data() const { return data_; }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] int descriptor() const { return descriptor_; }

 private:
  void map();
  void reset() noexcept;

  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
  int descriptor_ = -1;
};

/// Memory that can still be used, by the machine and by the control group of this process.
std::int64_t available_memory_bytes();

/// @throws ResourceError with both sizes and what to do
void require_memory(std::int64_t needed_bytes, std::int64_t available_bytes);

}  // namespace traffic::comm
