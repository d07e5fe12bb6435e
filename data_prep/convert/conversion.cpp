#include "conversion.h"

#include <fcntl.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <deque>
#include <filesystem>
#include <memory>
#include <optional>

#include "../record_plan.h"
#include "formats.h"
#include "frame_maker.h"
#include "text_input.h"
#include "traffic/core/atomic_file.h"
#include "traffic/core/clock.h"
#include "traffic/core/error.h"
#include "traffic/core/version.h"
#include "traffic/data/writer.h"
#include "traffic/os/affinity.h"
#include "traffic/os/descriptor.h"
#include "traffic/report/progress_bar.h"
#include "walk.h"

namespace traffic::data_prep {
namespace {

namespace fs = std::filesystem;

constexpr double kAutomaticEpisodeS = 300;
constexpr std::size_t kFewInputs = 3;
constexpr std::size_t kDealAtOnce = 10;
constexpr std::int64_t kProgressSteps = 1000;

/// Which split the next episode belongs to.
class Splits {
 public:
  /// @param known number of episodes; 0: not known beforehand
  Splits(const ConvertOptions& options, std::size_t known)
      : shares_(parse_split(options.split)), seed_(options.seed) {
    if (known == 0) return;
    const auto dealt = deal_splits(known, shares_, seed_);
    next_.assign(dealt.begin(), dealt.end());
  }
  data::Split next() {
    if (next_.empty()) {
      const auto dealt = deal_splits(kDealAtOnce, shares_);
      next_.assign(dealt.begin(), dealt.end());
    }
    const data::Split split = next_.front();
    next_.pop_front();
    return split;
  }

 private:
  std::vector<double> shares_;
  std::uint64_t seed_;
  std::deque<data::Split> next_;
};

/// How far a recording is, by what is read of its file.
class ShownProgress {
 public:
  ShownProgress(const Recording& recording, const std::string& label)
      : recording_(recording),
        bar_({.label = label,
              .total_steps = recording.share_read() < 0 ? 0 : kProgressSteps,
              .unit = "vehicles"}) {}
  void add(std::size_t vehicles) {
    const double share = std::max(0.0, recording_.share_read());
    // Not the last step before the end: what is read ahead is not converted yet.
    const auto step = static_cast<std::int64_t>(share * (kProgressSteps - 1));
    bar_.update(step, static_cast<std::int64_t>(vehicles), {});
  }

 private:
  const Recording& recording_;
  report::ProgressBar bar_;
};

/// The data set that is being written; made when the first step is known.
class Output {
 public:
  Output(fs::path path, const ConvertOptions& options, const std::string& command_line)
      : path_(std::move(path)), options_(options), command_line_(command_line) {}

  data::DatasetWriter& open(double step_s, const std::string& input) {
    const double interval_s = step_s * static_cast<double>(options_.record_every);
    if (writer_) {
      if (std::abs(interval_s - interval_s_) > 1e-6 * interval_s_) {
        throw DataError(
            "{}: its frames are {} s apart, those of the inputs before it {} s; convert them into "
            "files of their own (--out FOLDER), or pick every N-th with --record-every",
            input, interval_s, interval_s_);
      }
      return *writer_;
    }
    interval_s_ = interval_s;
    data::FileInfo info = data::file_info_of_this_program();
    info.scenario = fs::path(options_.network.empty() ? input : options_.network).stem().string();
    info.step_length_s = step_s;
    info.frame_interval_s = interval_s;
    info.program_version = version();
    info.command_line = command_line_;
    info.created_utc = utc_timestamp();
    info.splitting = fmt::format("by episode, {} for train, validation, test", options_.split);
    info.controller_names = {"recorded"};
    writer_.emplace(path_, info,
                    data::WriterOptions{.float16 = options_.float16,
                                        .compression_level = options_.compression_level,
                                        .encoder_threads = os::num_cpus_available()});
    return *writer_;
  }
  void finish() { writer_->finish(); }
  [[nodiscard]] const fs::path& path() const { return path_; }
  [[nodiscard]] double interval_s() const { return interval_s_; }

 private:
  fs::path path_;
  const ConvertOptions& options_;
  const std::string& command_line_;
  std::optional<data::DatasetWriter> writer_;
  double interval_s_ = 0;
};

/// Writes the frames of one recording.
class RecordingWriter final : public Visitor {
 public:
  RecordingWriter(const ConvertOptions& options, double episode_s, FrameMaker& maker,
                  Output& output, Splits& splits, ConvertedInput& result, ShownProgress& progress)
      : options_(options),
        episode_s_(episode_s),
        maker_(maker),
        output_(output),
        splits_(splits),
        result_(result),
        progress_(progress) {}

  void begin_stretch(double step_s) override {
    writer_ = &output_.open(step_s, result_.input);
    end_episode();
    maker_.begin_stretch(step_s);
    step_ = 0;
  }

  void visit(const RecordedFrame& frame, double time_s) override {
    maker_.take(frame, time_s);
    progress_.add(frame.vehicles.size());
    if (++step_ % options_.record_every != 0) return;
    if (episode_frames_ == 0) {
      const data::Split split = splits_.next();
      ++result_.splits[static_cast<std::size_t>(split)];
      writer_->begin_episode(
          {.seed = options_.seed + static_cast<std::uint64_t>(writer_->num_episodes()),
           .split = split});
    }
    const scene::GraphFrame& graph = maker_.build();
    writer_->append(graph);
    result_.vehicle_rows += graph.num_nodes();
    ++result_.frames;
    ++episode_frames_;
    const double length_s = static_cast<double>(episode_frames_) * output_.interval_s();
    if (episode_s_ > 0 && length_s >= episode_s_ - 0.5 * output_.interval_s()) end_episode();
  }

  void end_episode() {
    if (episode_frames_ == 0) return;
    writer_->end_episode();
    episode_frames_ = 0;
    ++result_.episodes;
  }
  [[nodiscard]] data::DatasetWriter* writer() { return writer_; }

 private:
  const ConvertOptions& options_;
  double episode_s_;
  FrameMaker& maker_;
  Output& output_;
  Splits& splits_;
  ConvertedInput& result_;
  ShownProgress& progress_;
  data::DatasetWriter* writer_ = nullptr;
  std::int64_t step_ = 0;
  std::int64_t episode_frames_ = 0;
};

/// The standard input in a nameless file, because the routes are read before the frames.
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
      if (std::find(used.begin(), used.end(), name) != used.end()) {
        name += fmt::format("-{}", used.size());
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
      const WalkResult walked = walk(*recording, result.input, problems, writer);
      writer.end_episode();
      if (walked.step_s == 0 || result.frames == 0) {
        throw DataError(
            "{}: has less than two frames ({} parts were skipped); expected a recording",
            result.input, problems.count());
      }
      result.gaps = walked.gaps;
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
    InputProblems passed_over(true);  // reported when the frames are converted
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
