/// Reads text files such as SUMO's XML files, plain or compressed by gzip.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace traffic::scene {

/// Whole content of a file, inflated if it is gzip.
/// @param what kind of file, as error messages name it, such as "network"
/// @throws DataError if it cannot be read
std::string read_text_file(const std::filesystem::path& path, std::string_view what);

}  // namespace traffic::scene
