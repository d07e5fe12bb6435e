#include "conversion.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <memory>
#include <optional>

#include "formats.h"
#include "frame_maker.h"
#include "recording_writer.h"
#include "text_input.h"
#include "traffic/core/atomic_file.h"
#include "traffic/core/error.h"
#include "traffic/os/descriptor.h"
#include "walk.h"

namespace traffic::data_prep {
namespace {

namespace fs = std::filesystem;

constexpr double kAutomaticEpisodeS = 300;
constexpr std::size_t kFewInputs = 3;

/// Copies the standard input to a nameless file, because a conversion on a network reads it twice:
/// for the routes and for the frames.
os::Descriptor spool_standard_input(const fs::path& folder) {
  os::Descriptor file(::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (!file.is_open()) throw io_error("make a nameless file for the pipe in", folder, errno);
  std::vector<std::byte> buffer(1 << 20);
  while (true) {
    const long n = read_unless_stopped(STDIN_FILENO, buffer);
    if (n < 0) throw io_error("read", "standard input", errno);
    if (n == 0) return file;
    if (!os::write_all(file.get(), std::span(buffer).first(static_cast<std::size_t>(n)))) {
      throw io_error("write what comes from the pipe to a nameless file in", folder, errno);
    }
  }
}

fs::path folder_of(const fs::path& file) {
  return file.has_parent_path() ? file.parent_path() : fs::path(".");
}

class Conversion {
 public:
  Conversion(const ConvertOptions& options, const std::string& command_line)
      : options_(options),
        command_line_(command_line),
        episode_s_(options.episode_s >= 0               ? options.episode_s
                   : options.inputs.size() < kFewInputs ? kAutomaticEpisodeS
                                                        : 0),
        splits_(options, episode_s_ > 0 ? 0 : options.inputs.size()) {
    if (!options.network.empty()) {
      road_ = std::make_shared<const scene::Road>(scene::read_road(options.network));
    }
  }

  std::vector<ConvertedInput> run() {
    std::vector<ConvertedInput> results;
    const bool one_file = fs::path(options_.out).extension() == ".h5";
    std::optional<Output> output;
    std::vector<std::string> used;
    for (const std::string& input : options_.inputs) {
      if (!output) output.emplace(path_for(input, one_file, used), options_, command_line_);
      results.push_back(convert(input, *output));
      if (one_file) continue;
      output->finish();
      output.reset();
    }
    if (output) output->finish();
    return results;
  }

 private:
  fs::path path_for(const std::string& input, bool one_file, std::vector<std::string>& used) const {
    fs::path path(options_.out);
    if (!one_file) {
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
    if (fs::exists(path) && !options_.force) {
      throw ConfigError(
          "--out: there is a {} already; choose another name, or replace it with "
          "--force",
          path.string());
    }
    return path;
  }

  ConvertedInput convert(const std::string& input, Output& output) {
    InputProblems problems(options_.on_error == "skip");
    ConvertedInput result{.input = input == "-" ? "standard input" : input,
                          .file = output.path().string()};
    RecordingFile file{.path = input, .shown_path = ""};
    os::Descriptor spooled;
    if (road_ && input == "-") {
      spooled = spool_standard_input(folder_of(output.path()));
      file = {.path = fmt::format("/proc/self/fd/{}", spooled.get()),
              .shown_path = "standard input"};
    }
    const auto maker = make_maker(file, result.input, problems);
    const auto recording = open_recording(file, options_.from, problems);
    {
      ShownProgress progress(*recording, "convert " + result.input);
      RecordingWriter writer(options_, episode_s_, *maker, output, splits_, result, progress);
      const WalkResult walked =
          walk(*recording, result.input, road_ ? Places::kLanes : Places::kPlane, problems, writer);
      writer.end_episode();
      if (walked.step_s == 0 || result.frames == 0) {
        throw DataError(
            "{}: has less than two frames at different times ({} parts were skipped); expected a "
            "recording",
            result.input, problems.count());
      }
      if (maker->num_vehicles() == 0) {
        throw DataError(
            "{}: has {} frames and no vehicle in any of them ({} parts were skipped; persons and "
            "containers are no vehicles)",
            result.input, result.frames, problems.count());
      }
      result.gaps = walked.gaps;
      result.jumps = walked.jumps;
      const auto missing = maker->missing_features();
      writer.writer()->mark_missing(missing);
      result.missing.assign(missing.begin(), missing.end());
    }
    result.vehicles = maker->num_vehicles();
    result.skipped = problems.count();
    result.skipped_examples = problems.examples();
    result.remark = recording->remark();
    return result;
  }

  std::unique_ptr<FrameMaker> make_maker(const RecordingFile& file, const std::string& shown,
                                         InputProblems& problems) const {
    const MakerOptions options{.cv_types = options_.cv_types,
                               .vehicle_length_m = options_.vehicle_length_m};
    if (!road_) return make_mapless_maker(options, shown, problems);
    InputProblems passed_over(true);  // the later conversion of the frames reports them
    const auto recording = open_recording(file, options_.from, passed_over);
    ShownProgress progress(*recording, "routes in " + shown);
    Routes routes = survey_routes(*recording, shown, *road_,
                                  [&](std::size_t vehicles) { progress.add(vehicles); });
    return make_road_maker(road_, std::move(routes), options, shown, problems);
  }

  const ConvertOptions& options_;
  const std::string& command_line_;
  double episode_s_;
  Splits splits_;
  std::shared_ptr<const scene::Road> road_;
};

}  // namespace

std::vector<ConvertedInput> convert_recordings(const ConvertOptions& options,
                                               const std::string& command_line) {
  return Conversion(options, command_line).run();
}

}  // namespace traffic::data_prep
