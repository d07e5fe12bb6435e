#include "traffic/checkpoint/parts.h"

#include <fmt/format.h>

#include <fstream>
#include <set>
#include <sstream>
#include <system_error>

#include "traffic/checkpoint/file.h"
#include "traffic/core/atomic_file.h"
#include "traffic/core/error.h"
#include "traffic/core/hash.h"

namespace traffic::checkpoint {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFolder = "parts";
constexpr std::string_view kGroup = "parts/";
constexpr std::string_view kExtension = ".part";

/// All names of checkpoints that can be read. @return false: one cannot be
bool collect_names(const fs::path& dir, std::set<std::string>& names) {
  std::error_code error;
  for (fs::directory_iterator it(dir, error), end; !error && it != end; it.increment(error)) {
    if (it->path().extension() != ".h5") continue;
    try {
      for (std::string& name : named_parts(load(it->path()))) names.insert(std::move(name));
    } catch (const CheckpointError&) {
      return false;  // who knows what it names
    }
  }
  return !error;
}

}  // namespace

std::string part_name(std::span<const std::byte> bytes) {
  return fmt::format("{}-{}{}", hex64(xxh3_64(bytes)), bytes.size(), kExtension);
}

fs::path place_of_part(const fs::path& checkpoint, const std::string& name) {
  const fs::path folder = checkpoint.parent_path();
  const fs::path beside = folder / kFolder / name;
  const fs::path above = folder / ".." / kFolder / name;  // moved into left-behind-...
  return !fs::exists(beside) && fs::exists(above) ? above : beside;
}

void write_parts(const Snapshot& snapshot, const fs::path& dir) {
  if (snapshot.parts().empty()) return;
  const fs::path folder = dir / kFolder;
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) throw io_error("create", folder, error.value());
  for (const Snapshot::Part& part : snapshot.parts()) {
    if (!fs::exists(folder / part.name)) write_file_atomically(folder / part.name, part.bytes());
  }
}

Bytes read_part(const Snapshot& snapshot, const std::string& name) {
  const fs::path path = place_of_part(snapshot.source(), name);
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) {
    throw CheckpointError(
        "checkpoint {}: its part {} is missing; copy the folder '{}' along with a checkpoint, or "
        "take its weights alone with run.init_from",
        snapshot.source(), path.string(), kFolder);
  }
  Bytes bytes(static_cast<std::size_t>(file.tellg()));
  file.seekg(0);
  file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  if (!file || part_name(bytes) != name) {
    throw CheckpointError("checkpoint {}: its part {} is damaged ({} bytes that are not its own)",
                          snapshot.source(), path.string(), bytes.size());
  }
  return bytes;
}

std::vector<std::string> named_parts(const Snapshot& snapshot) {
  std::vector<std::string> all;
  for (const std::string& entry : snapshot.names(kGroup)) {
    for (std::string& name : parts_of(snapshot, entry)) all.push_back(std::move(name));
  }
  return all;
}

std::vector<std::string> parts_of(const Snapshot& snapshot, const std::string& entry) {
  std::vector<std::string> all;
  std::istringstream text(snapshot.text(entry));
  for (std::string name; text >> name;) all.push_back(name);
  return all;
}

void check_parts(const Snapshot& snapshot) {
  for (const std::string& name : named_parts(snapshot)) read_part(snapshot, name);
}

void remove_unnamed_parts(const fs::path& dir) {
  const fs::path folder = dir / kFolder;
  if (!fs::exists(folder)) return;
  std::set<std::string> named;
  bool known = collect_names(dir, named);
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(dir, error)) {
    if (entry.is_directory(error)) known = collect_names(entry.path(), named) && known;
  }
  if (!known) return;
  remove_stale_temporaries(folder);
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    if (name.ends_with(kExtension) && !named.contains(name)) fs::remove(entry.path(), error);
  }
  if (error) throw io_error("remove parts of", dir, error.value());
}

}  // namespace traffic::checkpoint
