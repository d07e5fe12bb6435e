/// Chooses the best policy of a training on selection seeds, and in the end compares it with the
/// script that it began as, on seeds that nothing was chosen on.
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
  SelectionEvaluation evaluation;  ///< deciding as it would be used
  Decides decides = Decides::kGreedy;
  double advice_margin = 0.0;
  /// How much more it gains sampled than greedy, in points, if both have run.
  std::optional<report::MeanInterval> sampled_over_greedy{};
  bool best = false;    ///< to be kept instead of earlier ones
  bool fallen = false;  ///< below the best by more than the interval of the difference
};

/// Functions that run episodes are collective. All references that it is given outlive it.
class FinalComparison {
 public:
  struct Runs {
    SelectionRuns& selection;  ///< used by all evaluations
    SelectionRuns& final;      ///< used once, by conclude()
  };
  /// The training whose policies are compared.
  struct Kind {
    std::string name;                  ///< of the algorithm: "ppo"
    bool constrained = false;          ///< whether cost has to stay under lagrange.cost_limit
    std::optional<Decides> only = {};  ///< how its policies decide; nothing: what is better
    /// Of policies by values with an advisor: the first margin that is tried.
    std::optional<double> advice_margin = {};
  };
  FinalComparison(const config::Config& config, Runs runs, Kind kind);

  /// @param imitation_ends the script has just been imitated to the end: what the policy is worth
  /// now is kept to be reported
  /// @return nothing if it was given up because a stop is requested
  std::optional<Assessed> assess(const Actors& actors, bool imitation_ends);
  /// Lets the policy act with the present advice margin (Policy::lean_on_advice).
  void lean_on_advice(const Actors& actors) const;

  struct Best {
    Actors actors;                     ///< with the best policies
    bool learned_nothing_yet = false;  ///< they are those that the training began with
    std::string checkpoint;            ///< path of the result
  };
  /// Compares the best policy with no control and with the script that it began as, and says which
  /// of them to use.
  /// @return lines for the user
  std::string conclude(const Best& best, report::Summary& summary);

  void save_to(checkpoint::Snapshot& snapshot) const;
  void restore_from(const checkpoint::Snapshot& snapshot);
  /// Takes from the best checkpoint how its policy decides.
  void take_best(const checkpoint::Snapshot& snapshot);

 private:
  /// 0 where there is none.
  [[nodiscard]] double advice_margin() const { return margin_ ? margin_->value() : 0.0; }
  [[nodiscard]] double excess_of(const SelectionEvaluation& evaluation) const;
  /// Whether another way of deciding is better than the one that was assessed.
  [[nodiscard]] bool is_better(const SelectionEvaluation& other,
                               const SelectionEvaluation& than) const;
  /// Tries sampled decisions, another margin. @return false if it was given up
  bool try_sampled(const Actors& actors, Assessed& assessed);
  bool try_margin(const Actors& actors, Assessed& assessed);
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

report::NamedValues assessment_metrics(const Assessed& assessed);

}  // namespace traffic::train
