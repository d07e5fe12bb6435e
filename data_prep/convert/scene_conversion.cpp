// Converts recordings on a road network into scenes for driving policies (scene_conversion.h).
#include "scene_conversion.h"

#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <optional>

#include "formats.h"
#include "frame_maker.h"
#include "input_output.h"
#include "recording_writer.h"
#include "scene_maker.h"
#include "traffic/core/clock.h"
#include "traffic/core/error.h"
#include "traffic/core/hash.h"
#include "traffic/core/text.h"
#include "traffic/core/version.h"
#include "traffic/data/scene_file.h"
#include "traffic/os/affinity.h"
#include "walk.h"

namespace traffic::data_prep {
namespace {

namespace fs = std::filesystem;

/// The seed of a recorded episode: a hash of its content. Simulated episodes have the seed of their
/// simulation instead.
std::uint64_t content_seed(const driving::RecordedScene& scene, const std::string& input,
                           std::int64_t episode) {
  Hasher hash;
  // Empty episodes have no content, so input and number distinguish them.
  if (scene.nodes.empty()) hash.update(fmt::format("{} {}", input, episode));
  hash.update(std::as_bytes(std::span(scene.time_s)));
  hash.update(std::as_bytes(std::span(scene.nodes)));
  return hash.digest();
}

/// Converts all inputs of one command into scenes.
class SceneConversion {
 public:
  SceneConversion(const ConvertOptions& options, const std::string& command_line)
      : options_(options),
        command_line_(command_line),
        episode_s_(automatic_episode_s(options)),
        splits_(options, episode_s_ > 0 ? 0 : options.inputs.size()) {
    if (options.network.empty()) {
      throw ConfigError(
          "--scenes: a driving policy needs lanes and routes; name the network of the recording "
          "with --network FILE.net.xml");
    }
    if (options.record_every != 1 || options.float16) {
      throw ConfigError(
          "--scenes: frames of scenes are always {} s apart and contain float32; remove "
          "--record-every and --float16",
          driving::kFrame_s);
    }
    road_ = std::make_shared<const scene::Road>(scene::read_road(options.network));
    map_ = std::make_shared<const driving::RoadMap>(
        driving::road_map(*road_, driving::map_name(options.network)));
    if (map_->lanes.empty()) {
      throw DataError("network {}: none of its lanes is open to passenger cars", options.network);
    }
  }

  std::vector<ConvertedInput> run() {
    std::vector<ConvertedInput> results;
    std::vector<std::string> used;
    std::optional<data::SceneWriter> writer;
    fs::path path;
    for (const std::string& input : options_.inputs) {
      if (!writer) {
        path = output_path(options_, input, used);
        writer.emplace(path, file_info(),
                       data::SceneWriterOptions{.compression_level = options_.compression_level,
                                                .encoder_threads = os::num_cpus_available()});
      }
      results.push_back(convert(input, path, *writer));
      if (is_one_file(options_)) continue;
      writer->finish();
      writer.reset();
    }
    if (writer) writer->finish();
    return results;
  }

 private:
  [[nodiscard]] data::SceneFileInfo file_info() const {
    data::SceneFileInfo info;
    info.scenario = map_->name;
    info.source = fmt::format("recording ({})", options_.from);
    info.program_version = version();
    info.command_line = command_line_;
    info.created_utc = utc_timestamp();
    info.splitting = fmt::format("by episode, {} for train, validation, test", options_.split);
    return info;
  }

  ConvertedInput convert(const std::string& input, const fs::path& path,
                         data::SceneWriter& writer) {
    InputProblems problems(options_.on_error == "skip");
    ConvertedInput result{.input = shown_name(input), .file = path.string()};
    const RereadableInput twice = rereadable(input, path.parent_path());
    Routes routes = survey(twice.file, result.input);
    const auto recording = open_recording(twice.file, options_.from, problems);
    ShownProgress progress(*recording, "convert " + result.input);
    SceneMaker maker(road_, map_, std::move(routes),
                     {.vehicle_length_m = options_.vehicle_length_m,
                      .vehicle_width_m = options_.vehicle_width_m,
                      .episode_s = episode_s_},
                     result.input, problems, [&](driving::RecordedScene& scene) {
                       add(scene, result, writer);
                       progress.add(scene.nodes.size());
                     });
    const WalkResult walked = walk(*recording, result.input, Places::kLanes, problems, maker);
    maker.finish();
    if (walked.step_s == 0 || maker.num_vehicles() == 0) {
      throw DataError(
          "{}: has {} and {} on lanes of the --network (rows or parts with problems that were "
          "skipped: {}); expected a recording of traffic on this network",
          result.input, counted(walked.frames, "frame"), counted(maker.num_vehicles(), "vehicle"),
          problems.count());
    }
    result.gaps = walked.gaps;
    result.jumps = walked.jumps;
    result.vehicles = maker.num_vehicles();
    result.skipped = problems.count();
    result.skipped_examples = problems.examples();
    result.remark = recording->remark();
    return result;
  }

  Routes survey(const RecordingFile& file, const std::string& shown) const {
    // Problems are only counted here; convert() reports them when it reads the file again.
    InputProblems passed_over(true);
    const auto recording = open_recording(file, options_.from, passed_over);
    ShownProgress progress(*recording, "routes in " + shown);
    return survey_routes(*recording, shown, *road_,
                         [&](std::size_t vehicles) { progress.add(vehicles); });
  }

  void add(driving::RecordedScene& scene, ConvertedInput& result, data::SceneWriter& writer) {
    const data::Split split = splits_.next();
    scene.seed = content_seed(scene, result.input, result.episodes);
    writer.add(scene, {.split = split});
    ++result.splits[static_cast<std::size_t>(split)];
    ++result.episodes;
    result.frames += static_cast<std::int64_t>(scene.num_frames());
    result.vehicle_rows += static_cast<std::int64_t>(scene.nodes.size());
  }

  const ConvertOptions& options_;
  const std::string& command_line_;
  double episode_s_;
  Splits splits_;
  std::shared_ptr<const scene::Road> road_;
  std::shared_ptr<const driving::RoadMap> map_;
};

}  // namespace

std::vector<ConvertedInput> convert_to_scenes(const ConvertOptions& options,
                                              const std::string& command_line) {
  return SceneConversion(options, command_line).run();
}

}  // namespace traffic::data_prep
