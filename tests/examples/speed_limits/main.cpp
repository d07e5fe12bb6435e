/// The program speed_limits: traffic_train with one more agent, variable speed limit signs.
#include "signs_agent.h"
#include "traffic/train/trainer.h"
#include "traffic/train/trainings.h"

int main(int argc, char** argv) {
  using namespace traffic;
  train::add_agent(example::speed_limits_agent());
  const config::Program program{.name = "speed_limits",
                                .description =
                                    "Trains variable speed limit signs, and all that "
                                    "traffic_train trains."};
  return train::run_trainer(argc, argv, program, train::shipped_trainings());
}
