// Creates, opens and maps memory that several processes share (shared_memory.h).
#include "traffic/os/shared_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string_view>
#include <utility>

#include "system_failure.h"

namespace traffic::os {
Descriptor create_memory_file(const std::string& name, std::size_t size_bytes,
                              Allocation allocation) {
  Descriptor file(memfd_create(name.c_str(), MFD_CLOEXEC));
  if (!file.is_open()) fail(errno, "memfd_create");
  const auto size = static_cast<off_t>(size_bytes);
  if (allocation == Allocation::kSparse) {
    if (ftruncate(file.get(), size) != 0) fail(errno, "ftruncate");
  } else if (const int error = posix_fallocate(file.get(), 0, size); error != 0) {
    fail(error, "posix_fallocate");
  }
  return file;
}

Descriptor open_memory_file_of(pid_t pid, int fd, const std::string& name) {
  const std::string path = "/proc/" + std::to_string(pid) + "/fd/" + std::to_string(fd);
  std::array<char, 64> target{};
  if (readlink(path.c_str(), target.data(), target.size() - 1) > 0 &&
      !std::string_view(target.data()).starts_with("/memfd:" + name)) {
    fail(ENXIO, path + " is " + target.data() + " and not the memory " + name);
  }
  Descriptor file(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  if (!file.is_open()) fail(errno, path);
  return file;
}

Mapping::Mapping(const Descriptor& file, std::size_t offset_bytes, std::size_t size_bytes,
                 Access access) {
  struct stat info {};
  if (fstat(file.get(), &info) != 0) fail(errno, "fstat");
  if (static_cast<std::size_t>(info.st_size) < offset_bytes + size_bytes) {
    fail(EOVERFLOW, "the memory has " + std::to_string(info.st_size) +
                        " bytes, expected at least " + std::to_string(offset_bytes + size_bytes));
  }
  const int protection = access == Access::kReadOnly ? PROT_READ : PROT_READ | PROT_WRITE;
  const int flags = MAP_SHARED | (access == Access::kReadWriteTouched ? MAP_POPULATE : 0);
  void* address =
      mmap(nullptr, size_bytes, protection, flags, file.get(), static_cast<off_t>(offset_bytes));
  if (address == MAP_FAILED) fail(errno, "mmap");
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

}  // namespace traffic::os
