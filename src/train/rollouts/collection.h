/// One call of a collector.
#pragma once

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "rollouts/collector.h"

namespace traffic::train {

struct Collector::Collection {
  const std::vector<EpisodeRequest>* requests = nullptr;  ///< null: fragments
  std::function<void(std::size_t, const rollout::Period&)> on_period;
  Behaviour driver;  ///< without a policy: uncontrolled
  std::int64_t steps = 0;
  std::function<EpisodeSeed(int, std::int64_t)> traffic_of;
  std::size_t next = 0;
  std::map<int, EpisodeState> states{};
  Collected collected{};

  [[nodiscard]] bool keeps() const { return driver.sampling_seed.has_value(); }
  [[nodiscard]] bool per_conflict() const { return driver.perception->conflicts() > 1; }
  [[nodiscard]] std::int64_t may_pick(const rollout::Period& period) const {
    return std::max<std::int64_t>(0, driver.policy->top_k() - count_committed(period));
  }
  /// The conflict that a decision on this candidate is credited to.
  [[nodiscard]] std::int64_t credited(const rollout::Candidate& candidate) const {
    return per_conflict() ? candidate.conflict : 0;
  }
  /// Without decisions.
  [[nodiscard]] Step begin_step(Observation seen, const rollout::Period& period) const {
    const std::int64_t conflicts = per_conflict() ? period.num_conflicts : 1;
    Step step;
    step.seen = std::move(seen);
    step.conflicts = std::max<std::int64_t>(1, conflicts);
    return step;
  }
};

}  // namespace traffic::train
