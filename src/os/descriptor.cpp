// Pipes, and functions that read from and write to descriptors (descriptor.h).
#include "traffic/os/descriptor.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "system_failure.h"

namespace traffic::os {

void Descriptor::reset() noexcept {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

Pipe make_pipe() {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) {
    fail(errno, "cannot make a pipe");
  }
  return {.read_end = Descriptor(ends[0]), .write_end = Descriptor(ends[1])};
}

bool write_all(int fd, std::span<const std::byte> bytes) noexcept {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno != EINTR) return false;
    if (written > 0) bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return true;
}

long read_some(int fd, std::span<std::byte> room) noexcept {
  ssize_t got = 0;
  do {
    got = ::read(fd, room.data(), room.size());
  } while (got < 0 && errno == EINTR);
  return got;
}

}  // namespace traffic::os
