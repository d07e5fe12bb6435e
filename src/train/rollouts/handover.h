/// What a training hands over: which of its policies, deciding greedily or by its probabilities,
/// and whether that or the script that it imitated is the controller to use.
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

/// The policy on the selection seeds.
struct Assessed {
  SelectionEvaluation evaluation;  ///< deciding as it would be handed over
  Decides decides = Decides::kGreedy;
  double advice_margin = 0.0;
  /// How much more it gains sampled than greedy, in points, if both have run.
  std::optional<report::MeanInterval> sampled_over_greedy{};
  bool best = false;    ///< to be kept instead of earlier ones
  bool fallen = false;  ///< below the best by more than the interval of the difference
};

/// Everything is collective unless it is const. Keeps references to all that it is given.
class Handover {
 public:
  struct Runs {
    SelectionRuns& selection;  ///< of all evaluations
    SelectionRuns& handover;   ///< of the last comparison
  };
  /// What the training is that hands over.
  struct Kind {
    std::string name;                  ///< of what is learned: "ppo"
    bool constrained = false;          ///< by lagrange.cost_limit
    std::optional<Decides> only = {};  ///< how its policies decide; nothing: what is better
    /// Of policies by values with an advisor: the first margin that is tried.
    std::optional<double> advice_margin = {};
  };
  Handover(const config::Config& config, Runs runs, Kind kind);

  /// @param imitation_ends the script has just been imitated to the end: what the policy is worth
  /// now is kept to be reported
  /// @return nothing if it was given up because a stop is requested
  std::optional<Assessed> assess(const Decider& decider, bool imitation_ends);
  /// How the policy decided in the last evaluation.
  [[nodiscard]] Decides decides() const { return decides_; }
  /// With which it acts from now on (Policy::lean_on_advice); 0 where there is none.
  [[nodiscard]] double advice_margin() const { return margin_ ? margin_->value() : 0.0; }

  struct Best {
    const Decider& decider;      ///< with the best policy
    bool imitated_only = false;  ///< it is one that has not learned more yet
    std::string checkpoint;      ///< path of the result
  };
  /// Measures the best policy on seeds that it was not chosen on, compares it with the script that
  /// it imitated or is advised by, if there is one, and says what to use.
  /// @return a line for the user
  std::string conclude(const Best& best, report::Summary& summary);

  void save_to(checkpoint::Snapshot& snapshot) const;
  void restore_from(const checkpoint::Snapshot& snapshot);
  /// How the policy of a checkpoint decides, of the best one for conclude().
  void take_best(const checkpoint::Snapshot& snapshot);

 private:
  [[nodiscard]] double excess_of(const SelectionEvaluation& evaluation) const;
  /// Whether another way of deciding is better than the one that was assessed.
  [[nodiscard]] bool is_better(const SelectionEvaluation& other,
                               const SelectionEvaluation& than) const;
  /// Tries sampled decisions, another margin. @return false if it was given up
  bool try_sampled(const Decider& decider, Assessed& assessed);
  bool try_margin(const Decider& decider, Assessed& assessed);
  /// What is handed over, and why.
  struct Kept {
    std::string script;  ///< instead of the policy; empty: the policy
    std::string text;
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

report::NamedValues assessment_figures(const Assessed& assessed);

}  // namespace traffic::train
