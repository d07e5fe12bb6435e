/// A counting environment in a process of its own.
#include "rollout/pool/counting_environment.h"
#include "traffic/rollout/pool/processes.h"

int main(int argc, char** argv) {
  using namespace traffic::rollout;
  return run_environment_process(argc, argv,
                                 [](std::string_view /*settings*/, const EnvPlace& place) {
                                   return std::make_unique<testing::CountingEnvironment>(place);
                                 });
}
