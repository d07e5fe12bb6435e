/// A class that owns a file descriptor, and functions for pipes, reading and writing.
#pragma once

#include <cstddef>
#include <span>

namespace traffic::os {

/// Owns a file descriptor and closes it. The descriptor is -1 after default construction and after
/// a move.
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
  /// Gives up the ownership without closing the descriptor.
  int release() {
    const int fd = fd_;
    fd_ = -1;
    return fd;
  }
  void reset() noexcept;

 private:
  int fd_ = -1;
};

/// The two ends of a pipe. What is written to one end can be read from the other.
struct Pipe {
  Descriptor read_end;
  Descriptor write_end;
};
/// Makes a pipe. Programs that this process starts do not inherit its ends.
/// @throws std::system_error
Pipe make_pipe();

/// Writes all bytes, even if write() is interrupted or writes only a part.
/// @return false if writing fails
bool write_all(int fd, std::span<const std::byte> bytes) noexcept;

/// Reads as read() does, but is not interrupted by signals.
/// @return number of bytes read; 0 at the end of the file; -1 after an error, which errno describes
long read_some(int fd, std::span<std::byte> room) noexcept;

}  // namespace traffic::os
