/// Computes the digests (hashes of all frames) of several data set files, each in a process of its
/// own. The commands dedupe, split and verify compare digests to find traffic that occurs twice.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "traffic/data/file_digest.h"

namespace traffic::data_prep {

/// A digest as a message between processes.
[[nodiscard]] nlohmann::json digest_json(const data::FileDigest& digest);
/// The inverse of digest_json().
[[nodiscard]] data::FileDigest digest_of(const nlohmann::json& json);

/// @param jobs number of files that are read at the same time; 0 means one for each CPU
/// @throws Error for the first file that cannot be read
[[nodiscard]] std::vector<data::FileDigest> digest_files(const std::vector<std::string>& paths,
                                                         std::int64_t jobs);

}  // namespace traffic::data_prep
