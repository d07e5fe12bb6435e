/// The interface of a training: the functions that the common loop (loop.h) calls, and the
/// training's row in the table of trainings.
///
///     /// @return an object of a class that implements Training
///     std::unique_ptr<Training> make_cross_entropy(Run& run);
///
///     void register_cross_entropy() {
///       register_trainings({{.facts = {.name = "cross_entropy", .folder = "cross_entropy"},
///                            .make = make_cross_entropy}});
///     }
///
/// docs/design/extending.md builds a complete one.
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
#include "traffic/train/monitor/watched_loss.h"
#include "traffic/train/run/run.h"

namespace traffic::train {

/// Names of the units in which a training counts.
struct TrainingUnits {
  std::string step = "step";           ///< name of a step in the log, such as "iteration"
  std::string items = "samples";       ///< name of Iteration::items in the progress bar
  std::string rate = "samples_per_s";  ///< name of the metric time/<rate>: items per second
  std::string duration = "step_s";     ///< name of the metric time/<duration>: seconds per step
  /// Whether the first step is slower, so that mean rates leave it out.
  bool first_is_warm_up = false;
  /// Whether a step takes so long that a stop request must not wait for its end. If so, the loop
  /// keeps the state before each step, and saves this state if iterate() abandons the step.
  bool long_steps = false;
};

/// Result of a step; the same on all ranks.
struct Iteration {
  std::int64_t items = 0;  ///< samples or simulation steps, summed over all ranks
  std::optional<WatchedLoss> loss = {};
  bool evaluation_due = false;       ///< evaluate before the next step
  bool save_due = false;             ///< save a checkpoint even if no evaluation is due
  report::NamedValues metrics = {};  ///< metrics to write; empty if none are due
  std::vector<std::pair<std::string, double>> shown = {};  ///< values for the progress bar
};

/// Result of an evaluation; the same on all ranks.
struct Assessment {
  bool best = false;  ///< these parameters are the best so far
  bool save = true;   ///< save a checkpoint even if the parameters are not the best
  report::NamedValues metrics = {};
};

/// Estimated memory in bytes that a training will allocate on each rank after its construction.
struct MemoryNeeds {
  std::int64_t host = 0;
  std::int64_t gpu = 0;
};

/// A training, as the common loop sees it. Each rank has one object. All ranks call every function,
/// and it may be collective, except where its comment says "Not collective".
class Training {
 public:
  Training() = default;
  virtual ~Training() = default;
  Training(const Training&) = delete;
  Training& operator=(const Training&) = delete;

  /// Not collective.
  [[nodiscard]] virtual TrainingUnits units() const = 0;
  /// Number of steps done. Not collective.
  [[nodiscard]] virtual std::int64_t step() const = 0;
  /// Number of steps of the whole training. Not collective.
  [[nodiscard]] virtual std::int64_t total_steps() const = 0;
  /// Whether the training has used up its time, by the clock of this rank.
  [[nodiscard]] virtual bool time_is_over() const { return false; }
  /// The trained parameters. Not collective.
  [[nodiscard]] virtual const comm::ParameterArena& parameters() const = 0;

  /// Starts a new run with random weights, or with the weights that the checkpoint in
  /// run.init_from contains.
  /// @throws CheckpointError if these weights do not fit
  virtual void start() = 0;
  /// Whether the state after start() may already be the best (an imitation of a script, a trained
  /// policy); the loop then evaluates it before the first step.
  [[nodiscard]] virtual bool start_is_candidate() const { return false; }
  /// Restores a state that save_to() has saved.
  /// @throws CheckpointError if a value of the state is missing or does not fit
  virtual void restore_from(const checkpoint::Snapshot& snapshot) = 0;
  /// Saves everything that restore_from() needs. The loop adds the name of the training and the
  /// configuration.
  virtual void save_to(checkpoint::Snapshot& snapshot) const = 0;
  /// Size in bytes of the part files beside a checkpoint (checkpoint/parts.h), summed over all
  /// ranks. Not collective.
  [[nodiscard]] virtual std::int64_t bytes_of_parts() const { return 0; }
  /// Memory that training will need in addition to the memory in use after construction. The copy
  /// that is made for a checkpoint does not count. Not collective.
  [[nodiscard]] virtual MemoryNeeds memory_needs() const { return {}; }
  /// The batch of a step in words, for the log: "64 samples, 32 of each of 2 ranks". Not
  /// collective.
  [[nodiscard]] virtual std::string batch_text() const { return {}; }

  /// Trains one step.
  /// @return nothing if the step was abandoned because of a stop request. Only trainings with
  ///   TrainingUnits::long_steps may abandon a step. The progress of that step is lost: the loop
  ///   saves the state before it, and ends.
  virtual std::optional<Iteration> iterate() = 0;
  /// Evaluates the parameters. It may change two parts of the state that save_to() saves: the
  /// record of the best result so far, and, if the results have become worse, the parameters, which
  /// then return to the best ones.
  /// @return nothing if the evaluation was abandoned because of a stop request
  virtual std::optional<Assessment> evaluate() = 0;
  /// Loads the parameters of the best checkpoint. The loop then calls conclude().
  virtual void take_best(const checkpoint::Snapshot& snapshot) = 0;
  /// Called once when the training is complete and the best parameters are loaded. Adds the final
  /// metrics of the training to the summary.
  virtual void conclude(report::Summary& summary) = 0;
  /// Adds the faults that occurred during training to the summary. Not collective.
  virtual void count_faults(report::Summary& /*summary*/) const {}
  /// Ends child processes and releases other resources that must not wait for the destructor.
  virtual void close() {}

  [[nodiscard]] TimeSplit& time_split() { return time_split_; }

 protected:
  TimeSplit time_split_;
};

/// Inputs of a training that it may inspect and change before it is constructed. Each rank has its
/// own object.
struct Preparation {
  config::Config& config;
  comm::Communicator& communicator;
  const comm::MpiSession& session;
  /// The run folder, where results that took long to compute may be stored.
  std::filesystem::path dir;
  bool dry_run = false;  ///< whether to check only, without work that takes long
};

/// An entry of the table of trainings: what the program must know to offer a training.
struct TrainingRow {
  config::TrainingFacts facts;
  /// Collective. Constructs the training and checks everything that can be checked before a step.
  std::function<std::unique_ptr<Training>(Run&)> make;
  /// Rejects settings that no new run can start with. It runs before the run folder is created, so
  /// it must be fast. It may be empty.
  std::function<void(const config::Config&)> check_new = {};
  /// Sections of the configuration that only this training reads. Their structs are stored in a
  /// Config as extensions (config/schema.h).
  std::vector<config::OwnSection> own_sections = {};
  /// Collective. Inspects the scenarios or data of the training, and fills in the settings that
  /// follow from them. Throws if nothing can be learned from them. It may be empty.
  /// @return kStopped if it was abandoned because of a stop request
  std::function<TrainingEnd(const Preparation&)> prepare = {};
};

/// Makes trainings known, so that run.phase can name them. Call it before reading a configuration.
void register_trainings(const std::vector<TrainingRow>& rows);
/// Calls TrainingRow::prepare of the training that run.phase names.
TrainingEnd prepare(const Preparation& preparation);
/// Calls TrainingRow::check_new of the training that run.phase names.
void check_new(const config::Config& config);
/// Calls TrainingRow::make of the run's training.
std::unique_ptr<Training> make_training(Run& run);

}  // namespace traffic::train
