#include "policy/starting_weights.h"

#include "policy/perception.h"
#include "traffic/core/error.h"

namespace traffic::train {

void check_starting_weights(const config::Config& config) {
  if (!config.run.init_from.empty() || config.run.allow_random_perception) return;
  if (!config.env.vehicles_act()) return;  // traffic lights read no encodings
  if (!InputGroups(config.vehicles.inputs).any_encoding()) return;
  throw ConfigError(
      "run.init_from: it is empty, but vehicles.inputs contains encodings; phase {} freezes the "
      "encoder and the world model, which would keep random weights. Start from the result of "
      "phase 1 or 2 (--set run.init_from=RUN/checkpoints/phase1.h5), leave encodings out (--set "
      "'vehicles.inputs=[\"features\", \"globals\"]'), or allow random weights (--set "
      "run.allow_random_perception=true)",
      config.run.phase);
}

}  // namespace traffic::train
