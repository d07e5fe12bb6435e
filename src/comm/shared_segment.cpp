#include "shared_segment.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

#include "traffic/core/error.h"
#include "traffic/core/process.h"
#include "traffic/core/text.h"

namespace traffic::comm {
namespace {

constexpr const char* kName = "traffic_comm";

[[noreturn]] void fail(const char* action, std::size_t size_bytes, int error) {
  throw ResourceError(
      "cannot {} {} of shared memory: {}; give the job more memory (docker --memory, SLURM --mem) "
      "or use fewer ranks a node",
      action, human_bytes(static_cast<std::int64_t>(size_bytes)), std::strerror(error));
}

}  // namespace

SharedSegment::~SharedSegment() { reset(); }

SharedSegment::SharedSegment(SharedSegment&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)),
      descriptor_(std::exchange(other.descriptor_, -1)) {}

SharedSegment& SharedSegment::operator=(SharedSegment&& other) noexcept {
  if (this != &other) {
    reset();
    data_ = std::exchange(other.data_, nullptr);
    size_ = std::exchange(other.size_, 0);
    descriptor_ = std::exchange(other.descriptor_, -1);
  }
  return *this;
}

SharedSegment SharedSegment::create(std::size_t size_bytes) {
  require_memory(static_cast<std::int64_t>(
                     std::min(size_bytes, std::size_t{std::numeric_limits<std::int64_t>::max()})),
                 available_memory_bytes());
  SharedSegment segment;
  segment.size_ = size_bytes;
  segment.descriptor_ = memfd_create(kName, MFD_CLOEXEC);
  if (segment.descriptor_ < 0) fail("create", size_bytes, errno);
  if (const int error = posix_fallocate(segment.descriptor_, 0, static_cast<off_t>(size_bytes));
      error != 0) {
    fail("allocate", size_bytes, error);
  }
  segment.map();
  return segment;
}

SharedSegment SharedSegment::open(pid_t pid, int descriptor, std::size_t size_bytes) {
  const std::string path = fmt::format("/proc/{}/fd/{}", pid, descriptor);
  // In another pid namespace the path may lead to someone else's file.
  std::array<char, 64> target{};
  if (readlink(path.c_str(), target.data(), target.size() - 1) > 0 &&
      !std::string_view(target.data()).starts_with(std::string("/memfd:") + kName)) {
    throw ResourceError(
        "{} is {} and not the memory shared by the ranks of this node; they must run in one "
        "container",
        path, target.data());
  }
  SharedSegment segment;
  segment.size_ = size_bytes;
  segment.descriptor_ = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (segment.descriptor_ < 0) {
    throw ResourceError(
        "cannot open the memory shared by the ranks of this node ({}): {}; the ranks of a node "
        "must run as one user in one container",
        path, std::strerror(errno));
  }
  segment.map();
  return segment;
}

void SharedSegment::map() {
  void* address =
      mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, descriptor_, 0);
  if (address == MAP_FAILED) fail("map", size_, errno);
  data_ = static_cast<std::byte*>(address);
}

void SharedSegment::close_descriptor() {
  if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
}

void SharedSegment::reset() noexcept {
  if (data_ != nullptr) munmap(std::exchange(data_, nullptr), size_);
  if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
  size_ = 0;
}

std::int64_t available_memory_bytes() {
  std::int64_t available = total_memory_bytes() - rss_bytes();
  std::ifstream meminfo("/proc/meminfo");
  std::string key;
  std::int64_t kb = 0;
  std::string unit;
  while (meminfo >> key >> kb) {
    if (key == "MemAvailable:") return std::min(available, kb * 1024);
    std::getline(meminfo, unit);
  }
  return available;
}

void require_memory(std::int64_t needed_bytes, std::int64_t available_bytes) {
  if (needed_bytes <= available_bytes) return;
  throw ResourceError(
      "the ranks of this node need {} of shared memory but only {} is free: give the job more "
      "memory (docker --memory, SLURM --mem), use fewer ranks a node or a smaller model",
      human_bytes(needed_bytes), human_bytes(available_bytes));
}

}  // namespace traffic::comm
