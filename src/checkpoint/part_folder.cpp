// Removes part files that no checkpoint needs any more (part_folder.h).
#include "part_folder.h"

#include <algorithm>
#include <system_error>
#include <utility>

#include "header.h"
#include "traffic/checkpoint/file.h"
#include "traffic/checkpoint/parts.h"
#include "traffic/core/atomic_file.h"
#include "traffic/core/error.h"

namespace traffic::checkpoint {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> entries_of(const fs::path& folder) {
  std::vector<fs::path> all;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    all.push_back(it->path());
  }
  if (error) throw io_error("list", folder, error.value());
  return all;
}

}  // namespace

void require_own_folder(const fs::path& folder) {
  std::error_code error;
  if (!fs::is_symlink(folder, error)) return;
  throw ResourceError(
      "{} is a link to another folder, and this run would remove files there; replace the link by "
      "a folder",
      folder.string());
}

void PartFolder::add(std::uint64_t hash, std::vector<std::string> names) {
  names_[hash] = std::move(names);
}

const std::vector<std::string>& PartFolder::names_in(const fs::path& checkpoint) {
  const std::uint64_t hash = read_info(checkpoint).hash;
  const auto known = names_.find(hash);
  if (known != names_.end()) return known->second;
  return names_[hash] = named_parts(load(checkpoint, kPartGroup));
}

void PartFolder::collect(const fs::path& folder, Kept& kept) {
  for (const fs::path& path : entries_of(folder)) {
    if (path.extension() != ".h5") continue;
    try {
      const std::vector<std::string>& names = names_in(path);
      kept.names.insert(names.begin(), names.end());
    } catch (const UnknownCheckpoint& error) {
      std::error_code no_time;
      const fs::file_time_type time = fs::last_write_time(path, no_time);
      kept.until = std::max(kept.until, no_time ? fs::file_time_type::max() : time);
      reject(path, error.what(), kept);
    } catch (const CheckpointError& error) {
      reject(path, error.what(), kept);
    }
  }
}

void PartFolder::reject(const fs::path& path, const std::string& why, Kept& kept) {
  if (rejected_.insert(path).second) kept.rejected.push_back({path, why});
}

std::vector<Rejected> PartFolder::remove_unnamed() {
  const fs::path folder = dir_ / kPartFolder;
  std::error_code error;
  if (!fs::is_directory(folder, error)) return {};
  require_own_folder(folder);
  Kept kept;
  collect(dir_, kept);
  for (const fs::path& path : entries_of(dir_)) {
    if (!fs::is_directory(path, error)) continue;
    try {
      collect(path, kept);
    } catch (const ResourceError& unlisted) {
      kept.until = fs::file_time_type::max();
      reject(path, unlisted.what(), kept);
    }
  }
  remove_stale_temporaries(folder);
  for (const fs::path& path : entries_of(folder)) {
    const std::string name = path.filename().string();
    if (!is_part_name(name) || kept.names.contains(name)) continue;
    if (fs::last_write_time(path, error) <= kept.until && !error) continue;
    fs::remove(path, error);
    if (error) throw io_error("remove", path, error.value());
  }
  return std::move(kept.rejected);
}

}  // namespace traffic::checkpoint
