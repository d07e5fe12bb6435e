/// The files that a conversion reads and writes.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "conversion.h"
#include "formats.h"
#include "traffic/os/descriptor.h"

namespace traffic::data_prep {

/// Returns the file for the data of an input: --out itself if it is a NAME.h5, else a file in the
/// folder --out. Makes the folder.
/// @param used names that other inputs have taken; the new name is added
/// @throws ConfigError if the file exists and is not to be replaced
[[nodiscard]] std::filesystem::path output_path(const ConvertOptions& options,
                                                const std::string& input,
                                                std::vector<std::string>& used);
/// Whether the data of all inputs go to one file.
[[nodiscard]] bool is_one_file(const ConvertOptions& options);
/// Length of the episodes into which recordings are cut; 0: they are not cut.
[[nodiscard]] double automatic_episode_s(const ConvertOptions& options);
/// The name of an input in messages.
[[nodiscard]] std::string shown_name(const std::string& input);

/// An input that can be read more than once: for the routes and for the frames.
struct RereadableInput {
  RecordingFile file{};
  os::Descriptor spooled{};  ///< an unnamed temporary file that holds the standard input
};
/// @param folder folder in which the unnamed file is made
[[nodiscard]] RereadableInput rereadable(const std::string& input,
                                         const std::filesystem::path& folder);

}  // namespace traffic::data_prep
