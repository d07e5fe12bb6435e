#include "policy/starting_weights.h"

#include "policy/perception.h"
#include "traffic/core/error.h"

namespace traffic::train {

void check_starting_weights(const config::Config& config) {
  if (!config.run.init_from.empty() || config.run.allow_random_perception) return;
  if (!config.env.vehicles_act()) return;  // lights see no encodings
  if (!InputGroups(config.vehicles.inputs).any_encoding()) return;
  throw ConfigError(
      "run.init_from: is empty, and vehicles.inputs has encodings: encoder and world model are "
      "frozen in phase {} and would keep random weights; give the result of phase 1 or 2 "
      "(--set run.init_from=RUN/checkpoints/phase1.h5), or leave encodings out (--set "
      "'vehicles.inputs=[\"features\", \"globals\"]'), or ask for random ones (--set "
      "run.allow_random_perception=true)",
      config.run.phase);
}

}  // namespace traffic::train
