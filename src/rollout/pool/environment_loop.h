/// The environment's side of the protocol: it is reset and stepped as the slot commands.
#pragma once

#include "slot.h"
#include "traffic/rollout/pool/environment.h"

namespace traffic::rollout {

/// Serves one environment. One thread.
class EnvironmentLoop final : private EnvHost {
 public:
  /// Tells that the environment is ready.
  EnvironmentLoop(Environment& environment, EnvSlot& slot);

  /// Waits at most timeout_s for a command and carries it out.
  /// @throws whatever the environment throws: this process has to end then
  void serve(double timeout_s);

 private:
  std::uint64_t begin_step() override;
  [[nodiscard]] std::uint64_t episodes() const override;

  Environment& environment_;
  EnvSlot& slot_;
  bool in_episode_ = false;  ///< of this process
};

}  // namespace traffic::rollout
