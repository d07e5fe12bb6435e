// Chooses the names of a conversion's output files, and prepares its inputs (input_output.h).
#include "input_output.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "text_input.h"
#include "traffic/core/atomic_file.h"
#include "traffic/core/error.h"

namespace traffic::data_prep {
namespace {

namespace fs = std::filesystem;

constexpr double kAutomaticEpisodeS = 300;
constexpr std::size_t kFewInputs = 3;

/// Copies the standard input to an unnamed temporary file, because a conversion on a network reads
/// its input twice.
os::Descriptor spool_standard_input(const fs::path& folder) {
  os::Descriptor file(::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (!file.is_open()) {
    throw io_error("make an unnamed file for the standard input in", folder, errno);
  }
  std::vector<std::byte> buffer(1 << 20);
  while (true) {
    const long n = read_unless_stopped(STDIN_FILENO, buffer);
    if (n < 0) throw io_error("read", "standard input", errno);
    if (n == 0) return file;
    if (!os::write_all(file.get(), std::span(buffer).first(static_cast<std::size_t>(n)))) {
      throw io_error("write the standard input to an unnamed file in", folder, errno);
    }
  }
}

fs::path folder_of(const fs::path& file) {
  return file.has_parent_path() ? file.parent_path() : fs::path(".");
}

}  // namespace

bool is_one_file(const ConvertOptions& options) {
  return fs::path(options.out).extension() == ".h5";
}

double automatic_episode_s(const ConvertOptions& options) {
  if (options.episode_s >= 0) return options.episode_s;
  return options.inputs.size() < kFewInputs ? kAutomaticEpisodeS : 0;
}

std::string shown_name(const std::string& input) { return input == "-" ? "standard input" : input; }

RereadableInput rereadable(const std::string& input, const fs::path& folder) {
  if (input != "-") return {.file = {.path = input, .shown_path = ""}};
  RereadableInput twice{.spooled = spool_standard_input(folder.empty() ? fs::path(".") : folder)};
  twice.file = {.path = fmt::format("/proc/self/fd/{}", twice.spooled.get()),
                .shown_path = shown_name(input)};
  return twice;
}

fs::path output_path(const ConvertOptions& options, const std::string& input,
                     std::vector<std::string>& used) {
  fs::path path(options.out);
  if (!is_one_file(options)) {
    std::string name = input == "-" ? "pipe" : fs::path(input).filename().string();
    name = name.substr(0, name.find('.'));
    if (name.empty()) name = "recording";
    const std::string stem = name;
    for (int n = 1; std::find(used.begin(), used.end(), name) != used.end(); ++n) {
      name = fmt::format("{}-{}", stem, n);
    }
    used.push_back(name);
    path /= name + ".h5";
  }
  std::error_code error;
  fs::create_directories(folder_of(path), error);
  if (error) throw io_error("make the folder", folder_of(path), error.value());
  remove_stale_temporaries(folder_of(path));
  if (fs::exists(path) && !options.force) {
    throw ConfigError(
        "--out: the file {} exists already; choose another name, or replace it with "
        "--force",
        path.string());
  }
  return path;
}

}  // namespace traffic::data_prep
