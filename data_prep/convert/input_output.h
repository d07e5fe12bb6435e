/// Chooses the names of the files that a conversion writes, and prepares its inputs.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "conversion.h"
#include "formats.h"
#include "traffic/os/descriptor.h"

namespace traffic::data_prep {

/// Returns the output file for an input: --out itself if it is a NAME.h5, otherwise a file in the
/// folder --out. Creates the folder.
/// @param used names of the output files of earlier inputs; the function adds the new name
/// @throws ConfigError if the file exists and --force is not set
[[nodiscard]] std::filesystem::path output_path(const ConvertOptions& options,
                                                const std::string& input,
                                                std::vector<std::string>& used);
/// Whether the data of all inputs go to one file.
[[nodiscard]] bool is_one_file(const ConvertOptions& options);
/// Length in seconds of the episodes into which recordings are cut; 0 means that they are not cut.
[[nodiscard]] double automatic_episode_s(const ConvertOptions& options);
/// The name of an input in messages.
[[nodiscard]] std::string shown_name(const std::string& input);

/// An input that can be read twice: first for the routes and then for the frames.
struct RereadableInput {
  RecordingFile file{};
  os::Descriptor spooled{};  ///< an unnamed temporary file that holds the standard input
};
/// Prepares an input. Copies it to an unnamed temporary file if it is the standard input.
/// @param folder folder of the temporary file
[[nodiscard]] RereadableInput rereadable(const std::string& input,
                                         const std::filesystem::path& folder);

}  // namespace traffic::data_prep
