/// The folder of a run: what is in it is described in docs/run-folder.md.
#pragma once

#include <filesystem>
#include <map>
#include <string>

namespace traffic::report {

/// runs/<name>/<UTC time>, not yet created.
std::filesystem::path default_run_dir(const std::string& name);

/// Creates the folder and writes config.toml and environment.json (versions, hardware) into it.
/// @param facts further entries of environment.json, e.g. versions of libraries
/// @throws ResourceError
void write_run_folder(const std::filesystem::path& dir, const std::string& config_toml,
                      const std::map<std::string, std::string>& facts);

}  // namespace traffic::report
