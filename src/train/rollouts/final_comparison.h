/// Chooses the best policy of a training on the selection seeds. At the end of the training it
/// compares this policy with the script that the policy imitated, was advised by or began as, on
/// seeds that nothing was chosen on.
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
  SelectionEvaluation evaluation;      ///< made with `decides` and `advice_margin`
  Decides decides = Decides::kGreedy;  ///< the better way to decide of those that were tried
  double advice_margin = 0.0;          ///< 0: none
  /// Gain of sampled minus greedy decisions in percentage points, if both were run.
  std::optional<report::MeanInterval> sampled_over_greedy{};
  bool best = false;    ///< the training keeps this policy instead of earlier ones
  bool fallen = false;  ///< the gain is below the best by more than the 95 % interval
};

/// Functions that run episodes are collective. All referenced objects must outlive this one.
class FinalComparison {
 public:
  struct Runs {
    SelectionRuns& selection;  ///< used by all evaluations
    SelectionRuns& final;      ///< used once, by conclude()
  };
  /// The training whose policies are compared.
  struct Kind {
    std::string name;          ///< name of the algorithm: "ppo"
    bool constrained = false;  ///< whether cost has to stay under lagrange.cost_limit
    /// How its policies decide; nothing: every evaluation tries greedy and sampled decisions, and
    /// keeps the better ones.
    std::optional<Decides> only = {};
    /// The first advice margin, for Q-learning with an advisor; nothing: no margin is used.
    std::optional<double> advice_margin = {};
  };
  FinalComparison(const config::Config& config, Runs runs, Kind kind);

  /// Evaluates the policy on the selection seeds.
  /// @param imitation_ends whether imitation has just ended; then conclude() reports this gain
  /// @return nothing if the evaluation was given up because a stop is requested
  std::optional<Assessed> assess(const Actors& actors, bool imitation_ends);
  /// Lets the policy act with the current advice margin (Policy::lean_on_advice).
  void lean_on_advice(const Actors& actors) const;

  struct Best {
    Actors actors;                     ///< agents with the best weights
    bool learned_nothing_yet = false;  ///< these weights are from the start or from imitation
    std::string checkpoint;            ///< path of the best checkpoint
  };
  /// Compares the best policy with no control and with the script (scripts_to_beat), and recommends
  /// the policy or the script.
  /// @return text for the user
  std::string conclude(const Best& best, report::Summary& summary);

  void save_to(checkpoint::Snapshot& snapshot) const;
  void restore_from(const checkpoint::Snapshot& snapshot);
  /// Takes the way to decide and the advice margin of the best checkpoint.
  void take_best(const checkpoint::Snapshot& snapshot);

 private:
  /// 0 if no margin is used.
  [[nodiscard]] double advice_margin() const { return margin_ ? margin_->value() : 0.0; }
  [[nodiscard]] double excess_of(const SelectionEvaluation& evaluation) const;
  /// Whether `other`, an evaluation of the same policy that decides in another way, is better.
  [[nodiscard]] bool is_better(const SelectionEvaluation& other,
                               const SelectionEvaluation& than) const;
  // Each function tries another way of deciding and keeps it if it is better.
  // Returns false if the evaluation was given up.
  bool try_sampled(const Actors& actors, Assessed& assessed);
  bool try_margin(const Actors& actors, Assessed& assessed);
  /// The recommended controller.
  struct Kept {
    std::string script;  ///< name of the script; empty: the policy
    std::string text;    ///< the comparison, for the user
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
