/// EnvironmentLoop, the main loop of an environment process. It waits for the commands that a rank
/// writes to shared memory (the slot, slot.h), carries them out and writes the answers.
#pragma once

#include "slot.h"
#include "traffic/rollout/pool/environment.h"

namespace traffic::rollout {

/// Serves one episode. For use by one thread.
class EnvironmentLoop final : private EnvHost {
 public:
  EnvironmentLoop(Environment& environment, EnvSlot& slot)
      : environment_(environment), slot_(slot) {}

  /// Waits at most timeout_s for a command and carries it out. The loop leaves a command to begin a
  /// second episode in the slot, where the next process finds it.
  /// @return false if this process shall end, because its episode has ended or is abandoned
  /// @throws any exception of the environment, after which this process must end
  bool serve(double timeout_s);

 private:
  std::uint64_t begin_step() override;
  [[nodiscard]] std::uint64_t episodes() const override;

  Environment& environment_;
  EnvSlot& slot_;
  bool in_episode_ = false;
};

}  // namespace traffic::rollout
