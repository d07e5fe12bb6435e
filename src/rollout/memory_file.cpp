#include "memory_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "traffic/core/error.h"
#include "traffic/core/text.h"

namespace traffic::rollout {

void Descriptor::reset() noexcept {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

Descriptor create_memory_file(std::size_t size_bytes) {
  Descriptor file(memfd_create("traffic_rollout", MFD_CLOEXEC));
  if (!file.is_open() || ftruncate(file.get(), static_cast<off_t>(size_bytes)) != 0) {
    throw ResourceError(
        "cannot create {} of memory to share with the simulations: {}; lower "
        "rollout.envs_per_worker or raise the limit of open files (ulimit -n)",
        human_bytes(static_cast<std::int64_t>(size_bytes)), std::strerror(errno));
  }
  return file;
}

Descriptor open_memory_file_of(pid_t pid, int fd) {
  const std::string path = fmt::format("/proc/{}/fd/{}", pid, fd);
  Descriptor file(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  if (!file.is_open()) {
    throw ResourceError(
        "cannot open the memory shared with the simulations ({}): {}; ranks and rollout workers "
        "of a node must run as one user in one container",
        path, std::strerror(errno));
  }
  return file;
}

Mapping::Mapping(const Descriptor& file, std::size_t offset_bytes, std::size_t size_bytes,
                 Access access) {
  struct stat info {};
  if (fstat(file.get(), &info) != 0 ||
      static_cast<std::size_t>(info.st_size) < offset_bytes + size_bytes) {
    throw ResourceError("the memory shared with the simulations has {} bytes, needed are {}",
                        info.st_size, offset_bytes + size_bytes);
  }
  const int protection = access == Access::kReadWrite ? PROT_READ | PROT_WRITE : PROT_READ;
  void* address = mmap(nullptr, size_bytes, protection, MAP_SHARED, file.get(),
                       static_cast<off_t>(offset_bytes));
  if (address == MAP_FAILED) {
    throw ResourceError("cannot map {} of memory shared with the simulations: {}",
                        human_bytes(static_cast<std::int64_t>(size_bytes)), std::strerror(errno));
  }
  bytes_ = {static_cast<std::byte*>(address), size_bytes};
}

Mapping::Mapping(Mapping&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}

Mapping& Mapping::operator=(Mapping&& other) noexcept {
  if (this != &other) {
    reset();
    bytes_ = std::exchange(other.bytes_, {});
  }
  return *this;
}

void Mapping::reset() noexcept {
  if (!bytes_.empty()) munmap(bytes_.data(), bytes_.size());
  bytes_ = {};
}

}  // namespace traffic::rollout
