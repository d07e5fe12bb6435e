/// One call of a collector.
#pragma once

#include <map>
#include <vector>

#include "phase2_collector.h"

namespace traffic::train {

struct Collector::Job {
  const std::vector<EpisodeRequest>* requests = nullptr;  ///< null: fragments
  std::function<void(std::size_t, const rollout::Period&)> on_period;
  Driver driver;  ///< without a policy: uncontrolled
  std::int64_t steps = 0;
  std::function<Traffic(int, std::int64_t)> traffic_of;
  std::size_t next = 0;
  std::map<int, Slot> slots{};
  Collected collected{};

  [[nodiscard]] bool keeps() const { return driver.sampling_seed.has_value(); }
};

}  // namespace traffic::train
