#include "doctor/storage.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "traffic/core/atomic_file.h"
#include "traffic/core/clock.h"
#include "traffic/core/process.h"
#include "traffic/core/text.h"
#include "traffic/os/descriptor.h"

namespace traffic::train {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kLargeBytes = std::int64_t{32} << 20;
/// Below this rate, saving a checkpoint of a large model delays training.
constexpr double kSlowBytesPerS = 20e6;
/// If writing a small file takes longer than this, writing metrics and logs delays training.
constexpr double kSlowFileS = 0.25;

/// Names of file systems that are common on training machines, by their statfs(2) number.
std::string type_of(const fs::path& folder) {
  constexpr std::array<std::pair<long, std::string_view>, 11> kTypes{{{0xEF53, "ext4"},
                                                                      {0x58465342, "xfs"},
                                                                      {0x9123683E, "btrfs"},
                                                                      {0x2FC12FC1, "zfs"},
                                                                      {0x01021994, "tmpfs"},
                                                                      {0x794C7630, "overlay"},
                                                                      {0x6969, "nfs"},
                                                                      {0x0BD00BD0, "lustre"},
                                                                      {0x47504653, "gpfs"},
                                                                      {0x00C36400, "ceph"},
                                                                      {0x65735546, "fuse"}}};
  struct statfs info {};
  if (::statfs(folder.c_str(), &info) != 0)
    throw io_error("find the file system of", folder, errno);
  for (const auto& [number, name] : kTypes) {
    if (static_cast<long>(info.f_type) == number) return std::string(name);
  }
  return fmt::format("{:#x}", static_cast<unsigned long>(info.f_type));
}

/// A test file that the destructor removes.
class Probe {
 public:
  explicit Probe(fs::path path) : path_(std::move(path)) {}
  ~Probe() {
    std::error_code ignored;
    fs::remove(path_, ignored);
  }
  Probe(const Probe&) = delete;
  Probe& operator=(const Probe&) = delete;
  [[nodiscard]] const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

os::Descriptor open_probe(const fs::path& path) {
  os::Descriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!file.is_open()) throw io_error("write", path, errno);
  return file;
}

/// Seconds to write kLargeBytes to a file and flush them to the disk.
double seconds_to_write(const fs::path& path) {
  const os::Descriptor file = open_probe(path);
  const std::vector<char> block(std::size_t{1} << 20U, 'x');
  const Stopwatch clock;
  for (std::int64_t written = 0; written < kLargeBytes;) {
    const ssize_t now = ::write(file.get(), block.data(), block.size());
    if (now < 0 && errno == EINTR) continue;
    if (now <= 0) throw io_error("write", path, now < 0 ? errno : ENOSPC);
    written += now;
  }
  if (::fsync(file.get()) != 0) throw io_error("write", path, errno);
  return clock.seconds();
}

/// Whether the file system supports locks. The function opens the file twice and locks it through
/// the first descriptor. A lock through the second descriptor must then fail, even in the same
/// process.
bool can_lock(const fs::path& path) {
  const os::Descriptor first = open_probe(path);
  const os::Descriptor second = open_probe(path);
  if (::flock(first.get(), LOCK_EX | LOCK_NB) != 0) return false;
  return ::flock(second.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

}  // namespace

StorageFacts measure_storage(const fs::path& folder) {
  const Probe probe(folder / fmt::format(".traffic_doctor-{}", getpid()));
  StorageFacts facts{.folder = folder.string(), .type = type_of(folder)};
  const Stopwatch clock;
  write_file_atomically(probe.path(), "written by traffic_doctor");
  facts.small_file_s = clock.seconds();
  facts.locks = can_lock(probe.path());
  facts.write_bytes_per_s = static_cast<double>(kLargeBytes) / seconds_to_write(probe.path());
  facts.free_bytes = free_disk_bytes(folder);
  return facts;
}

Finding examine_folder(const config::Config& config) {
  fs::path folder = fs::absolute(config.run.dir.empty() ? "runs" : config.run.dir);
  std::error_code ignored;
  while (!fs::exists(folder, ignored) && folder.has_relative_path()) {
    folder = folder.parent_path();
  }
  try {
    return judge_storage(measure_storage(folder));
  } catch (const Error& error) {
    return {.verdict = Verdict::kFailed,
            .subject = "run folder",
            .found = error.what(),
            .code = error.code()};
  }
}

Finding judge_storage(const StorageFacts& facts) {
  Finding finding{
      .subject = "run folder",
      .found = fmt::format("{} is writable, {} free; {}, {}/s to the disk, a small file in {}",
                           facts.folder, human_bytes(facts.free_bytes), facts.type,
                           human_bytes(static_cast<std::int64_t>(facts.write_bytes_per_s)),
                           human_duration(facts.small_file_s))};
  if (!facts.locks) {
    finding.verdict = Verdict::kWarning;
    finding.found +=
        "; it does not support locks, so two runs could write into one folder: mount it with locks "
        "(Lustre: -o flock), or set run.dir to another file system";
  }
  if (facts.write_bytes_per_s < kSlowBytesPerS || facts.small_file_s > kSlowFileS) {
    finding.verdict = Verdict::kWarning;
    finding.found +=
        "; it is slow: raise checkpoint.save_interval_s, or set run.dir to a local disk";
  }
  return finding;
}

}  // namespace traffic::train
