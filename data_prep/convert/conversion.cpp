// Converts recorded traffic into data sets of graphs (conversion.h).
#include "conversion.h"

#include <fmt/format.h>
#include <filesystem>
#include <memory>
#include <optional>

#include "formats.h"
#include "frame_maker.h"
#include "input_output.h"
#include "recording_writer.h"
#include "scene_conversion.h"
#include "traffic/core/error.h"
#include "traffic/core/text.h"
#include "walk.h"

namespace traffic::data_prep {
namespace {

namespace fs = std::filesystem;

/// Converts all inputs of one command into graphs.
class Conversion {
 public:
  Conversion(const ConvertOptions& options, const std::string& command_line)
      : options_(options),
        command_line_(command_line),
        episode_s_(automatic_episode_s(options)),
        splits_(options, episode_s_ > 0 ? 0 : options.inputs.size()) {
    if (!options.network.empty()) {
      road_ = std::make_shared<const scene::Road>(scene::read_road(options.network));
    }
  }

  std::vector<ConvertedInput> run() {
    std::vector<ConvertedInput> results;
    const bool one_file = is_one_file(options_);
    std::optional<Output> output;
    std::vector<std::string> used;
    for (const std::string& input : options_.inputs) {
      if (!output) output.emplace(output_path(options_, input, used), options_, command_line_);
      results.push_back(convert(input, *output));
      if (one_file) continue;
      output->finish();
      output.reset();
    }
    if (output) output->finish();
    return results;
  }

 private:
  ConvertedInput convert(const std::string& input, Output& output) {
    InputProblems problems(options_.on_error == "skip");
    ConvertedInput result{.input = shown_name(input), .file = output.path().string()};
    RereadableInput twice;
    if (road_) twice = rereadable(input, output.path().parent_path());
    const RecordingFile file = road_ ? twice.file : RecordingFile{.path = input, .shown_path = ""};
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
            "{}: has fewer than two frames at growing times (rows or parts with problems that were "
            "skipped: {}); expected at least two, each later than the one before",
            result.input, problems.count());
      }
      if (maker->num_vehicles() == 0) {
        throw DataError(
            "{}: has {}, but no vehicle (rows or parts with problems that were skipped: {}; "
            "persons "
            "and containers are not vehicles)",
            result.input, counted(result.frames, "frame"), problems.count());
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
    // Problems are only counted here; convert() reports them when it reads the file again.
    InputProblems passed_over(true);
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
  if (options.scenes) return convert_to_scenes(options, command_line);
  return Conversion(options, command_line).run();
}

}  // namespace traffic::data_prep
