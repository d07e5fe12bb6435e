/// A way of learning: what it fills in of the one loop that all share (loop.h), and its row in the
/// table of trainings.
///
///     class CrossEntropy final : public Training { ... };
///     const TrainingRow row{{.name = "cross_entropy", .folder = "cross_entropy", ...},
///                           [](Run& run) { return std::make_unique<CrossEntropy>(run); }};
///
/// docs/design/extending.md goes through a whole one.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "traffic/checkpoint/snapshot.h"
#include "traffic/comm/flat_arena.h"
#include "traffic/config/schema.h"
#include "traffic/config/trainings.h"
#include "traffic/core/time_split.h"
#include "traffic/report/metrics.h"
#include "traffic/report/summary.h"
#include "traffic/train/run/run.h"
#include "traffic/train/run/watched_loss.h"

namespace traffic::train {

/// How a training counts.
struct TrainingUnits {
  std::string step = "step";           ///< what step() counts, for the log: "iteration"
  std::string items = "samples";       ///< what Iteration::items counts, for the bar
  std::string rate = "samples_per_s";  ///< of items: the figure time/<rate>
  std::string duration = "step_s";     ///< of a step: the figure time/<duration>
  bool first_is_warm_up = false;       ///< the first step's time says nothing about the others'
  /// Steps take so long that a request to stop is not to wait for the end of one: what was complete
  /// before it is kept ready to be saved.
  bool long_steps = false;
};

/// What a step came to; the same on all ranks.
struct Iteration {
  std::int64_t items = 0;  ///< samples or simulation steps of all ranks
  std::optional<WatchedLoss> loss = {};
  bool evaluation_due = false;
  bool save_due = false;                                   ///< even without an evaluation
  report::NamedValues metrics = {};                        ///< empty: none are due
  std::vector<std::pair<std::string, double>> shown = {};  ///< on the progress bar
};

/// What an evaluation came to; the same on all ranks.
struct Assessment {
  bool best = false;  ///< the parameters are to be kept as the best so far
  bool save = true;   ///< even if they are not
  report::NamedValues metrics = {};
};

/// What a training is going to take on each rank beyond what it has when it begins, in bytes,
/// about.
struct MemoryNeeds {
  std::int64_t host = 0;
  std::int64_t gpu = 0;
};

/// One a rank and training. Everything is called on all ranks and may be collective, unless it is
/// said not to be.
class Training {
 public:
  Training() = default;
  virtual ~Training() = default;
  Training(const Training&) = delete;
  Training& operator=(const Training&) = delete;

  /// Not collective, as the next three.
  [[nodiscard]] virtual TrainingUnits units() const = 0;
  [[nodiscard]] virtual std::int64_t step() const = 0;
  [[nodiscard]] virtual std::int64_t total_steps() const = 0;
  /// What is trained.
  [[nodiscard]] virtual const comm::ParameterArena& parameters() const = 0;

  /// A new run: from random weights, or from run.init_from as far as that has them.
  /// @throws CheckpointError if they do not fit
  virtual void start() = 0;
  /// Whether what start() gives is good enough to be the best of all (a script's imitation, a
  /// trained policy): it is then evaluated before the first step.
  [[nodiscard]] virtual bool start_is_candidate() const { return false; }
  /// @throws CheckpointError if a part is missing or does not fit
  virtual void restore_from(const checkpoint::Snapshot& snapshot) = 0;
  /// All that restore_from() needs. The loop adds which training it is of, and the configuration.
  virtual void save_to(checkpoint::Snapshot& snapshot) const = 0;
  /// What the parts beside a checkpoint will come to on the disk, of all ranks
  /// (checkpoint/parts.h). Not collective.
  [[nodiscard]] virtual std::int64_t bytes_of_parts() const { return 0; }
  /// Not collective, as the next one. What is saved is not part of it.
  [[nodiscard]] virtual MemoryNeeds memory_needs() const { return {}; }
  /// What a step learns from, for the log: "64 samples, 32 of each of 2 ranks".
  [[nodiscard]] virtual std::string batch_text() const { return {}; }

  /// The next step.
  /// @return nothing if it was given up because a stop is requested; what was done since the last
  /// one is then lost, and nothing more is asked of this object than close()
  virtual std::optional<Iteration> iterate() = 0;
  /// How good the parameters are, without changing anything that save_to() saves but the best so
  /// far; a training that got worse may go back to that.
  /// @return nothing if it was given up because a stop is requested
  virtual std::optional<Assessment> evaluate() = 0;
  /// Takes the parameters of the best checkpoint, for conclude().
  virtual void take_best(const checkpoint::Snapshot& snapshot) = 0;
  /// The end of a training that is done, with the best parameters: its figures.
  virtual void conclude(report::Summary& summary) = 0;
  /// What went wrong meanwhile. Not collective.
  virtual void count_faults(report::Summary& /*summary*/) const {}
  /// Lets go of what would not wait for the destructor (processes).
  virtual void close() {}

  [[nodiscard]] TimeSplit& time_split() { return time_split_; }

 protected:
  TimeSplit time_split_;
};

/// A section of the configuration that comes with a training: settings of its own, a struct that a
/// Config keeps as an extension (config/schema.h).
struct OwnSection {
  config::Section section;
  std::vector<config::Row> rows;
};

/// What a training may look at, and set, before it is made. One for all ranks.
struct Preparation {
  config::Config& config;
  comm::Communicator& communicator;
  const comm::MpiSession& session;
  std::filesystem::path dir;  ///< of the job: what took long to find out is kept there
  bool dry_run = false;       ///< nothing may take long
};

struct TrainingRow {
  config::TrainingFacts facts;
  /// Collective. Checks everything that can be checked before a step.
  std::function<std::unique_ptr<Training>(Run&)> make;
  /// Refuses settings that no new run can begin with, in no time: before its folder is made. May be
  /// empty.
  std::function<void(const config::Config&)> check_new = {};
  std::vector<OwnSection> own_sections = {};
  /// Collective. Looks at what the training is going to work on, sets what that leaves no doubt
  /// about, and refuses what nothing can be learned from. May be empty.
  /// @return kStopped if it was given up because a stop is requested
  std::function<TrainingEnd(const Preparation&)> prepare = {};
};

/// Makes them known to the configuration and to the coordinator. Before a configuration is read.
void register_trainings(const std::vector<TrainingRow>& rows);
/// TrainingRow::prepare of the training that run.phase names.
TrainingEnd prepare(const Preparation& preparation);
/// Of the training that run.phase names: TrainingRow::check_new.
void check_new(const config::Config& config);
/// Of the training that it is a run of: TrainingRow::make.
std::unique_ptr<Training> make_training(Run& run);

}  // namespace traffic::train
