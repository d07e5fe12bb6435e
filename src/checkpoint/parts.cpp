// Reads and writes part files, which hold data of a checkpoint outside its own file (parts.h).
#include "traffic/checkpoint/parts.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <iterator>
#include <optional>
#include <set>
#include <sstream>
#include <system_error>

#include "part_folder.h"
#include "traffic/core/atomic_file.h"
#include "traffic/core/error.h"
#include "traffic/core/hash.h"
#include "traffic/core/text.h"
#include "traffic/os/descriptor.h"

namespace traffic::checkpoint {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kExtension = ".part";
constexpr std::size_t kHashDigits = 16;

/// Size in bytes of a part's content according to its name; nullopt if this is not the name of a
/// part.
std::optional<std::uint64_t> stated_size(std::string_view name) {
  if (name.size() <= kHashDigits || !name.ends_with(kExtension)) return std::nullopt;
  const std::string_view hash = name.substr(0, kHashDigits);
  if (hash.find_first_not_of("0123456789abcdef") != std::string_view::npos) return std::nullopt;
  if (name[kHashDigits] != '-') return std::nullopt;
  name.remove_prefix(kHashDigits + 1);
  name.remove_suffix(kExtension.size());
  std::uint64_t size = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), size);
  // from_chars accepts leading zeros. Comparing with the formatted number rejects them.
  if (error != std::errc() || fmt::format("{}", size) != name) return std::nullopt;
  return size;
}

/// Size of a regular file; nullopt if the path does not exist, or is a link or a special file.
std::optional<std::uint64_t> size_of_file(const fs::path& path) {
  struct stat info {};
  if (::lstat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) return std::nullopt;
  return static_cast<std::uint64_t>(info.st_size);
}

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream in(text);
  return {std::istream_iterator<std::string>(in), {}};
}

/// Whether the folder contains a complete file of this part.
bool is_there(const fs::path& folder, const std::string& name) {
  return size_of_file(folder / name) == stated_size(name);
}

}  // namespace

std::string part_name(std::span<const std::byte> bytes) {
  return fmt::format("{}-{}{}", hex64(xxh3_64(bytes)), bytes.size(), kExtension);
}

bool is_part_name(std::string_view name) { return stated_size(name).has_value(); }

fs::path place_of_part(const fs::path& checkpoint, const std::string& name) {
  TRAFFIC_CHECK(is_part_name(name), "'{}' is no name of a part", printable(name));
  const fs::path folder = checkpoint.parent_path();
  const fs::path beside = folder / kPartFolder;
  const fs::path above = folder / ".." / kPartFolder;
  return (!is_there(beside, name) && is_there(above, name) ? above : beside) / name;
}

void write_parts(const Snapshot& snapshot, const fs::path& dir) {
  if (snapshot.parts().empty()) return;
  const fs::path folder = dir / kPartFolder;
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) throw io_error("create", folder, error.value());
  require_own_folder(folder);
  for (const Snapshot::Part& part : snapshot.parts()) {
    TRAFFIC_CHECK(is_part_name(part.name), "'{}' is no name of a part", printable(part.name));
    if (!is_there(folder, part.name)) write_file_atomically(folder / part.name, part.bytes());
  }
}

Bytes read_part(const Snapshot& snapshot, const std::string& name) {
  const fs::path path = place_of_part(snapshot.source(), name);
  // Without O_NONBLOCK, opening a pipe would wait for a writer.
  const os::Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW));
  if (!file.is_open() && errno == ENOENT) {
    throw CheckpointError(
        "checkpoint {}: its part {} is missing; copy the folder '{}' along with the checkpoint, or "
        "start a new run from the checkpoint's weights with run.init_from",
        snapshot.source(), path.string(), kPartFolder);
  }
  const int error = errno;
  struct stat info {};
  if (file.is_open() ? ::fstat(file.get(), &info) != 0 || !S_ISREG(info.st_mode) : error == ELOOP) {
    throw CheckpointError("checkpoint {}: its part {} is not a regular file; copy the file itself",
                          snapshot.source(), path.string());
  }
  if (!file.is_open()) {
    throw CheckpointError("checkpoint {}: cannot open its part {}: {}", snapshot.source(),
                          path.string(), std::generic_category().message(error));
  }
  const auto size = static_cast<std::uint64_t>(info.st_size);
  Bytes bytes(size == stated_size(name) ? size : 0);
  std::size_t filled = 0;
  while (filled < bytes.size()) {
    const long got = os::read_some(file.get(), std::span(bytes).subspan(filled));
    if (got <= 0) break;
    filled += static_cast<std::size_t>(got);
  }
  if (filled < bytes.size() || part_name(bytes) != name) {
    throw CheckpointError(
        "checkpoint {}: its part {} is damaged: its content ({} bytes) does not match the hash in "
        "its name; "
        "use another checkpoint, or copy the part again",
        snapshot.source(), path.string(), size);
  }
  return bytes;
}

std::vector<std::string> words_naming_parts(const Snapshot& snapshot) {
  std::set<std::string> all;
  for (const std::string& entry : snapshot.names(kPartGroup)) {
    for (std::string& word : words_of(snapshot.text(entry))) all.insert(std::move(word));
  }
  return {all.begin(), all.end()};
}

std::vector<std::string> named_parts(const Snapshot& snapshot) {
  std::set<std::string> all;
  for (const std::string& entry : snapshot.names(kPartGroup)) {
    for (std::string& name : parts_of(snapshot, entry)) all.insert(std::move(name));
  }
  return {all.begin(), all.end()};
}

std::vector<std::string> parts_of(const Snapshot& snapshot, const std::string& entry) {
  std::vector<std::string> all = words_of(snapshot.text(entry));
  const auto foreign =
      std::ranges::find_if_not(all, [](const std::string& name) { return is_part_name(name); });
  if (foreign == all.end()) return all;
  throw CheckpointError(
      "checkpoint {}: '{}' names '{}', expected: names like 0123456789abcdef-1024{}; this program "
      "did not write this file: use another checkpoint",
      snapshot.source(), entry, printable(*foreign), kExtension);
}

void check_parts(const Snapshot& snapshot) {
  for (const std::string& name : named_parts(snapshot)) read_part(snapshot, name);
}

}  // namespace traffic::checkpoint
