/// Plans a recording of data_prep record: the seed, demand, controller and split of each episode,
/// and the file that it is written to. The plan depends only on the options.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "traffic/data/format.h"

namespace traffic::data_prep {

/// A controller and the weight that determines its share of the episodes.
struct ControlShare {
  std::string name;
  double weight = 1.0;
};

/// First seed of recordings, which use up to a million seeds. Trainings, selection, final
/// comparisons and searches use seeds from 700 million on, and evaluations use small numbers. No
/// controller is therefore evaluated on traffic that its world model was trained on.
inline constexpr std::uint64_t kFirstRecordingSeed = 1'000'000;

/// The options of the command line; `data_prep record --help` explains them.
struct RecordOptions {
  std::string scenario = "merge";
  std::string out;
  bool scenes = false;        ///< record scenes for driving policies instead of graphs
  std::int64_t episodes = 0;  ///< 0 means one for each seed of `seeds`, or 40 without a range
  std::string seeds = std::to_string(kFirstRecordingSeed);  ///< first seed "A" or range "A..B"
  std::int64_t jobs = 0;  ///< number of simulations at the same time; 0 means one for each CPU
  std::vector<double> demand_scales{1.0};
  std::string control = "none:2,random:1,meter:1";
  std::string split = "0.8,0.1,0.1";
  std::vector<std::string> settings{};  ///< keys of [env], e.g. "env.cv_types=auto"
  std::int64_t record_every = 1;        ///< simulation steps between two frames
  std::int64_t max_steps = 0;           ///< maximum steps of an episode; 0 means no maximum
  bool float16 = false;
  int compression_level = 1;
  double timeout_s = 120;  ///< time without a message after which a worker is replaced
  bool force = false;
  bool json = false;
};

struct PlannedEpisode {
  std::uint64_t seed = 0;
  double demand_scale = 1.0;
  std::uint8_t controller = 0;  ///< index into RecordPlan::controllers
  data::Split split = data::Split::kTrain;
  bool operator==(const PlannedEpisode&) const = default;
};

struct RecordPlan {
  std::vector<std::string> controllers;
  std::vector<PlannedEpisode> episodes;
  /// [files + 1] file f contains the episodes file_begin[f] to file_begin[f + 1] - 1.
  std::vector<std::size_t> file_begin;
  [[nodiscard]] std::size_t num_files() const { return file_begin.size() - 1; }
};

/// Makes the plan of a recording.
/// @param jobs number of workers. The number of files is chosen such that all workers have about
///   the same work
/// @throws ConfigError that names the invalid option
[[nodiscard]] RecordPlan plan_recording(const RecordOptions& options, std::int64_t jobs);

/// Parses the shares of train, validation and test.
/// @throws ConfigError if the text is not three shares that add up to 1
[[nodiscard]] std::vector<double> parse_split(const std::string& text);
/// Assigns n episodes to splits in proportion to the shares. If there are enough episodes, each
/// split gets one episode first. Each further episode goes to the split that is furthest behind its
/// share.
[[nodiscard]] std::vector<data::Split> deal_splits(std::size_t n, std::span<const double> shares);
/// Assigns n episodes to splits in the same proportions, but in a random order that depends on the
/// seed.
[[nodiscard]] std::vector<data::Split> deal_splits(std::size_t n, std::span<const double> shares,
                                                   std::uint64_t seed);

}  // namespace traffic::data_prep
