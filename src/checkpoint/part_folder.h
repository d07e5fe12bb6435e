/// The folder of part files (parts.h), and which checkpoints still need which part.
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
/// Values of a checkpoint that name parts begin with this.
inline constexpr std::string_view kPartGroup = "parts/";

/// The words of all text values that name parts, each once and unchecked.
std::vector<std::string> words_naming_parts(const Snapshot& snapshot);

/// @throws ResourceError if the folder is a link, because its files then belong to another folder
void require_own_folder(const std::filesystem::path& folder);

/// Removes parts that are not needed any more. It reads every checkpoint only once.
class PartFolder {
 public:
  /// @param dir folder of the checkpoints
  explicit PartFolder(std::filesystem::path dir) : dir_(std::move(dir)) {}

  /// Notes which parts a checkpoint names, so that its file need not be read.
  /// @param hash FileInfo::hash of the file
  void add(std::uint64_t hash, std::vector<std::string> names);

  /// Removes the parts that no checkpoint in the folder or its subfolders names. A damaged
  /// checkpoint cannot be restored, so it does not protect its parts. A checkpoint that only this
  /// process cannot read (access denied, another format version) protects all parts that are older
  /// than it. If a subfolder cannot be listed, all parts stay.
  /// @return files and folders that could not be read, each only the first time
  /// @throws ResourceError
  std::vector<Rejected> remove_unnamed();

 private:
  /// Parts that the checkpoints of the folder protect.
  struct Kept {
    std::set<std::string> names;
    /// Parts that are not newer than this stay, too.
    std::filesystem::file_time_type until = std::filesystem::file_time_type::min();
    std::vector<Rejected> rejected;  ///< not reported before
  };
  void collect(const std::filesystem::path& folder, Kept& kept);
  void reject(const std::filesystem::path& path, const std::string& why, Kept& kept);
  const std::vector<std::string>& names_in(const std::filesystem::path& checkpoint);

  std::filesystem::path dir_;
  std::map<std::uint64_t, std::vector<std::string>> names_;  ///< by FileInfo::hash
  std::set<std::filesystem::path> rejected_;                 ///< reported before
};

}  // namespace traffic::checkpoint
