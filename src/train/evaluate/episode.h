/// One episode of an evaluation, in a process of its own.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "evaluate/recording.h"
#include "traffic/scene/controller.h"
#include "traffic/sim/controller_driver.h"
#include "traffic/sim/sumo_env.h"
#include "traffic/train/evaluate/evaluation.h"

namespace traffic::train {

/// @throws ConfigError, CheckpointError if there is no such controller
void check_controller(const std::string& name);

/// Keeps one simulation and the controllers of a plan. Not thread-safe.
class EpisodeRunner {
 public:
  explicit EpisodeRunner(const EvaluationPlan& plan);

  /// @param progress called after every step with how much of the episode is done, 0..1 (0 where
  /// it has no end)
  EvaluatedEpisode run(std::size_t controller, std::uint64_t seed,
                       const std::function<void(double)>& progress);

 private:
  scene::Controller& controller(std::size_t index);
  [[nodiscard]] std::unique_ptr<scene::Controller> make_part(std::string_view name) const;
  /// @param recording grows with every step; null: nothing is kept
  void drive(EvaluatedEpisode& episode, const std::function<void(double)>& progress,
             Recording* recording);

  const EvaluationPlan& plan_;
  std::optional<sim::SumoEnv> env_;
  std::vector<std::unique_ptr<scene::Controller>> controllers_;  ///< made when first needed
  sim::ControllerDriver driver_;
};

}  // namespace traffic::train
