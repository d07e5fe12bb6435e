/// RecordingWriter writes the frames of a recording to a data set. It divides them into episodes,
/// assigns the episodes to splits, and shows the progress.
#pragma once

#include <cstdint>
#include <deque>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "conversion.h"
#include "frame_maker.h"
#include "recording.h"
#include "traffic/core/hash.h"
#include "traffic/data/writer.h"
#include "traffic/report/progress_bar.h"
#include "walk.h"

namespace traffic::data_prep {

/// Chooses the split of each episode, according to the shares of --split.
class Splits {
 public:
  /// @param known number of episodes; 0 if it is not known beforehand
  Splits(const ConvertOptions& options, std::size_t known);
  data::Split next();

 private:
  std::vector<double> shares_;
  std::uint64_t seed_;
  std::deque<data::Split> next_;  ///< splits of the next episodes
};

/// A progress bar that shows which share of a recording has been read.
class ShownProgress {
 public:
  ShownProgress(const Recording& recording, const std::string& label);
  void add(std::size_t vehicles);

 private:
  const Recording& recording_;
  report::ProgressBar bar_;
};

/// The data set file that is being written. It is created when the length of a time step is known.
class Output {
 public:
  Output(std::filesystem::path path, const ConvertOptions& options,
         const std::string& command_line);
  /// Creates the file if it does not exist yet.
  /// @throws DataError if the frames of an earlier input have another interval
  data::DatasetWriter& open(double step_s, const std::string& input);
  void finish() { writer_->finish(); }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] double interval_s() const { return interval_s_; }

 private:
  std::filesystem::path path_;
  const ConvertOptions& options_;
  const std::string& command_line_;
  std::optional<data::DatasetWriter> writer_;
  double interval_s_ = 0;  ///< seconds from frame to frame
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

  void begin_stretch(double step_s) override;
  void visit(const RecordedFrame& frame, double time_s) override;
  void end_episode();
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
  std::int64_t episode_rows_ = 0;  ///< number of vehicles, summed over the episode's frames
  Hasher episode_content_;         ///< its hash becomes the seed of the episode
};

}  // namespace traffic::data_prep
