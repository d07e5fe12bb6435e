#include "traffic/train/trainings.h"

#include "agents/rows.h"
#include "driving/training.h"
#include "traffic/train/snakes/training.h"
#include "world_model/training.h"

namespace traffic::train {

const std::vector<TrainingRow>& shipped_trainings() {
  static const std::vector<TrainingRow> rows{
      world_model_training(), ppo_training(), ppo_constrained_training(),
      snakes_training(),      dqn_training(), driving_training()};
  return rows;
}

}  // namespace traffic::train
