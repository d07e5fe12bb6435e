/// Chooses the best policy of a training on the selection seeds. At the end of the training it
/// compares this policy with a script (a controller written by hand): the script that the policy
/// imitated, was advised by or began as. The seeds of this final comparison were not used for any
/// choice.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "rollouts/advice_margin.h"
#include "rollouts/selection_runs.h"
#include "run/selection.h"
#include "traffic/checkpoint/snapshot.h"
#include "traffic/config/config.h"
#include "traffic/report/metrics.h"
#include "traffic/report/summary.h"

namespace traffic::train {

/// An evaluation of the policy on the selection seeds.
struct Assessed {
  SelectionEvaluation evaluation;      ///< metrics of the policy with `decides` and `advice_margin`
  Decides decides = Decides::kGreedy;  ///< how the policy decided: the better way if two were tried
  double advice_margin = 0.0;          ///< margin that is used from now on; 0 if no margin is used
  /// Gain of sampled decisions minus gain of greedy decisions in percentage points. It is set if
  /// both ways of deciding were evaluated.
  std::optional<report::MeanInterval> sampled_over_greedy{};
  bool best = false;    ///< the training keeps this policy instead of earlier ones
  bool fallen = false;  ///< the gain is below the best one by more than the 95 % interval
};

/// Evaluates the policies of a training, keeps the record of the best one, and makes the final
/// comparison. Functions that run episodes are collective. All referenced objects must outlive this
/// one.
class FinalComparison {
 public:
  struct Runs {
    SelectionRuns& selection;  ///< used by all evaluations
    SelectionRuns& final;      ///< used once, by conclude()
  };
  /// Properties of the training whose policies are compared.
  struct Kind {
    std::string name;          ///< name of the algorithm: "ppo"
    bool constrained = false;  ///< whether the cost must stay under lagrange.cost_limit
    /// How its policies decide. If it is not set, every evaluation tries greedy and sampled
    /// decisions and uses the better result.
    std::optional<Decides> only = {};
    /// The first advice margin (advice_margin.h), for Q-learning with an advisor. If it is not set,
    /// no margin is used.
    std::optional<double> advice_margin = {};
  };
  FinalComparison(const config::Config& config, Runs runs, Kind kind);

  /// Evaluates the policy on the selection seeds.
  /// @param imitation_ends whether imitation has just ended; if so, conclude() reports the gain of
  ///   this evaluation as the gain after imitation
  /// @return nothing if the evaluation was given up because a stop was requested
  std::optional<Assessed> assess(const Actors& actors, bool imitation_ends);
  /// Passes the current advice margin to the policy of the vehicles (Policy::lean_on_advice).
  void lean_on_advice(const Actors& actors) const;

  struct Best {
    Actors actors;  ///< agents with the best weights
    /// These weights are from the start of the training or from imitation.
    bool learned_nothing_yet = false;
    std::string checkpoint;  ///< path of the best checkpoint
  };
  /// Compares the best policy with no control and with the script (scripts_to_beat). Recommends
  /// either the policy or the script.
  /// @return text for the user
  std::string conclude(const Best& best, report::Summary& summary);

  void save_to(checkpoint::Snapshot& snapshot) const;
  void restore_from(const checkpoint::Snapshot& snapshot);
  /// Uses the way to decide and the advice margin of the best checkpoint from now on.
  void take_best(const checkpoint::Snapshot& snapshot);

 private:
  /// The current advice margin; 0 if no margin is used.
  [[nodiscard]] double advice_margin() const { return margin_ ? margin_->value() : 0.0; }
  [[nodiscard]] double excess_of(const SelectionEvaluation& evaluation) const;
  /// Whether `other`, an evaluation of the same policy that decides in another way, is better.
  [[nodiscard]] bool is_better(const SelectionEvaluation& other,
                               const SelectionEvaluation& than) const;
  // Each of the next two functions evaluates the policy with another way of deciding, and stores
  // the result in `assessed` if it is better. It returns false if the evaluation was given up.
  bool try_sampled(const Actors& actors, Assessed& assessed);
  bool try_margin(const Actors& actors, Assessed& assessed);
  /// The recommended controller.
  struct Kept {
    /// Name of the recommended script; empty if the policy or several scripts are recommended.
    std::string script;
    std::string text;  ///< the comparison, for the user
  };
  Kept keep(const Best& best, const SelectionEvaluation& policy, report::Summary& summary);
  static std::string by_scenario(const SelectionEvaluation& policy,
                                 const SelectionEvaluation& script,
                                 const std::vector<std::string>& scripts, report::Summary& summary);

  const config::Config& config_;
  Runs runs_;
  Kind kind_;
  Selection selection_;
  Decides decides_ = Decides::kGreedy;
  std::optional<AdviceMargin> margin_;
  std::optional<report::MeanInterval> imitation_;  ///< gain at the end of imitation
};

report::NamedValues assessment_metrics(const Assessed& assessed);

}  // namespace traffic::train
