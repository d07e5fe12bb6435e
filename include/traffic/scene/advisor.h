/// Runs a scripted controller that advises a learned policy for vehicles. The configuration key
/// vehicles.advisor names the script.
#pragma once

#include <memory>
#include <span>
#include <unordered_set>
#include <utility>
#include <vector>

#include "traffic/scene/action.h"
#include "traffic/scene/controller.h"

namespace traffic::scene {

/// The policy decides once per control period and sees the script's commands as advice. Until the
/// policy's next decision, the script goes on deciding at its own times. It may command all
/// vehicles except those for which the policy did not follow the advice. A policy that always
/// follows the advice therefore acts exactly as the script does alone.
class Advisor {
 public:
  /// @param script must decide the same whenever the state is the same
  /// @param control_period_s time between two decisions of the policy
  Advisor(std::unique_ptr<Controller> script, double control_period_s)
      : script_(std::move(script)), control_period_s_(control_period_s) {}

  /// Called when a decision of the policy is due.
  /// @return the script's commands, valid until the next call of a member function
  std::span<const Command> advise(const RoadState& state);
  /// Compares the policy's commands with the advice before they are carried out. A command that
  /// follows the advice lasts until the script's next decision, unless the policy chose a duration
  /// beyond the control period.
  void heed(std::span<Command> decided);
  /// Called before every step of the control period except the first.
  /// @return the script's further commands, valid until the next call of a member function
  std::span<const Command> go_on(const RoadState& state);

 private:
  void ask(const RoadState& state);

  std::unique_ptr<Controller> script_;
  double control_period_s_;
  std::vector<Command> advice_;
  std::unordered_set<std::uint32_t> left_alone_;  ///< vehicles that the script may not command
  double next_s_ = 0;                             ///< time of the script's next decision
  double end_s_ = 0;                              ///< end of the control period
};

}  // namespace traffic::scene
