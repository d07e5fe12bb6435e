/// The simulations in which signs act: sumo_env with one more agent.
#include "signs_in_simulation.h"
#include "traffic/rollout/traffic/sumo_env.h"

int main(int argc, char** argv) {
  using namespace traffic;
  return rollout::run_sumo_env(argc, argv, {example::simulated_speed_limits()});
}
