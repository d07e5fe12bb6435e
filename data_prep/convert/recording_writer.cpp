// Writes the frames of a recording to a data set (recording_writer.h).
#include "recording_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "../record_plan.h"
#include "traffic/core/clock.h"
#include "traffic/core/error.h"
#include "traffic/core/version.h"
#include "traffic/data/plausible.h"
#include "traffic/os/affinity.h"

namespace traffic::data_prep {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kDealAtOnce = 10;
constexpr std::int64_t kProgressSteps = 1000;

}  // namespace

Splits::Splits(const ConvertOptions& options, std::size_t known)
    : shares_(parse_split(options.split)), seed_(options.seed) {
  if (known == 0) return;
  const auto dealt = deal_splits(known, shares_, seed_);
  next_.assign(dealt.begin(), dealt.end());
}

data::Split Splits::next() {
  if (next_.empty()) {
    const auto dealt = deal_splits(kDealAtOnce, shares_);
    next_.assign(dealt.begin(), dealt.end());
  }
  const data::Split split = next_.front();
  next_.pop_front();
  return split;
}
ShownProgress::ShownProgress(const Recording& recording, const std::string& label)
    : recording_(recording),
      bar_({.label = label,
            .total_steps = recording.share_read() < 0 ? 0 : kProgressSteps,
            .unit = "vehicles"}) {}

void ShownProgress::add(std::size_t vehicles) {
  const double share = std::max(0.0, recording_.share_read());
  // Frames that were read ahead are not converted yet. So the bar does not reach its end even when
  // the whole input has been read.
  const auto step = static_cast<std::int64_t>(share * (kProgressSteps - 1));
  bar_.update(step, static_cast<std::int64_t>(vehicles), {});
}
Output::Output(fs::path path, const ConvertOptions& options, const std::string& command_line)
    : path_(std::move(path)), options_(options), command_line_(command_line) {}

data::DatasetWriter& Output::open(double step_s, const std::string& input) {
  const double interval_s = step_s * static_cast<double>(options_.record_every);
  if (writer_) {
    if (!data::same_interval(interval_s, interval_s_)) {
      throw DataError(
          "{}: its frames are {} s apart, but the frames of the inputs before it are {} s apart; "
          "convert each input into a file of its own (--out FOLDER), or use every N-th frame with "
          "--record-every",
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
void RecordingWriter::begin_stretch(double step_s) {
  writer_ = &output_.open(step_s, result_.input);
  end_episode();
  maker_.begin_stretch(step_s);
  step_ = 0;
}
void RecordingWriter::visit(const RecordedFrame& frame, double time_s) {
  maker_.take(frame, time_s);
  progress_.add(frame.vehicles.size());
  if (++step_ % options_.record_every != 0) return;
  if (episode_frames_ == 0) {
    const data::Split split = splits_.next();
    ++result_.splits[static_cast<std::size_t>(split)];
    writer_->begin_episode({.split = split});
    episode_content_ = {};
    const double clock_s = frame.time_s + frame.clock_s;
    episode_content_.update(std::as_bytes(std::span(&clock_s, 1)));
  }
  const scene::GraphFrame& graph = maker_.build();
  episode_content_.update(std::as_bytes(std::span(graph.xy_m)));
  episode_content_.update(std::as_bytes(std::span(graph.node_features)));
  writer_->append(graph);
  result_.vehicle_rows += graph.num_nodes();
  episode_rows_ += graph.num_nodes();
  ++result_.frames;
  ++episode_frames_;
  const double length_s = static_cast<double>(episode_frames_) * output_.interval_s();
  if (episode_s_ > 0 && length_s >= episode_s_ - 0.5 * output_.interval_s()) end_episode();
}
void RecordingWriter::end_episode() {
  if (episode_frames_ == 0) return;
  // data_prep treats episodes with the same scenario and seed as the same traffic. A recording has
  // no seed, so its episodes get a hash of their clock time and content. Empty episodes have no
  // content; they get a hash of their input and number.
  if (episode_rows_ == 0) {
    episode_content_.update(fmt::format("{} {}", result_.input, writer_->num_episodes()));
  }
  episode_rows_ = 0;
  writer_->set_seed(episode_content_.digest());
  writer_->end_episode();
  episode_frames_ = 0;
  ++result_.episodes;
}
}  // namespace traffic::data_prep
