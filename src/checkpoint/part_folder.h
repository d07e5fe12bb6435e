/// PartFolder removes part files that no checkpoint needs any more. A part file holds data of a
/// checkpoint outside its own file (parts.h). CheckpointManager uses PartFolder after each save.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "traffic/checkpoint/manager.h"

namespace traffic::checkpoint {

inline constexpr const char* kPartFolder = "parts";
/// Text values of a checkpoint whose names begin with this prefix contain names of parts.
inline constexpr std::string_view kPartGroup = "parts/";

/// All words in the text values of the group kPartGroup, each word once. They should be names of
/// parts, but the function does not check this.
std::vector<std::string> words_naming_parts(const Snapshot& snapshot);

/// Checks that the folder is not a symbolic link, whose files would belong to another folder.
/// @throws ResourceError if it is a link
void require_own_folder(const std::filesystem::path& folder);

/// Knows which parts the checkpoints of a folder need. It reads every checkpoint only once.
class PartFolder {
 public:
  /// @param dir folder of the checkpoints
  explicit PartFolder(std::filesystem::path dir) : dir_(std::move(dir)) {}

  /// Records which parts a new checkpoint names, so that its file need not be read.
  /// @param hash FileInfo::hash of the file
  void add(std::uint64_t hash, std::vector<std::string> names);

  /// Removes the parts that no checkpoint in the folder or its direct subfolders names. A damaged
  /// checkpoint cannot be restored, so its parts may be removed. If this process cannot read an
  /// undamaged checkpoint (access denied, another format version), all parts that are not newer
  /// than this checkpoint stay. If a subfolder cannot be listed, all parts stay.
  /// @return files and folders that could not be read, each only the first time
  /// @throws ResourceError if the folder cannot be listed or a part cannot be removed
  std::vector<Rejected> remove_unnamed();

 private:
  /// Parts that must stay.
  struct Kept {
    std::set<std::string> names;
    /// Parts whose files are not newer than this time must also stay.
    std::filesystem::file_time_type until = std::filesystem::file_time_type::min();
    std::vector<Rejected> rejected;  ///< unreadable files that were not reported before
  };
  void collect(const std::filesystem::path& folder, Kept& kept);
  void reject(const std::filesystem::path& path, const std::string& why, Kept& kept);
  const std::vector<std::string>& names_in(const std::filesystem::path& checkpoint);

  std::filesystem::path dir_;
  /// Names of the parts of each checkpoint; the key is FileInfo::hash.
  std::map<std::uint64_t, std::vector<std::string>> names_;
  std::set<std::filesystem::path> rejected_;  ///< unreadable files that were reported
};

}  // namespace traffic::checkpoint
