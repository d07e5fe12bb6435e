/// A script beside the policy that it advises (vehicles.advisor).
#pragma once

#include <memory>
#include <span>
#include <unordered_set>
#include <utility>
#include <vector>

#include "traffic/scene/action.h"
#include "traffic/scene/controller.h"

namespace traffic::scene {

/// The policy decides once a control period. In between the script, asked as often as it would be
/// alone, goes on with those vehicles for which the policy did as it was advised, and takes those
/// that have come since: a policy that always does as it is advised is the script.
class Advisor {
 public:
  /// @param script that decides the same in the same state
  /// @param control_period_s of the policy
  Advisor(std::unique_ptr<Controller> script, double control_period_s)
      : script_(std::move(script)), control_period_s_(control_period_s) {}

  /// A decision is due. @return what the script would do, valid until the next call of any of these
  std::span<const Command> advise(const RoadState& state);
  /// What the policy decided on that advice, which is carried out next. Those that do as advised
  /// last until the script is asked again, unless they are to last beyond the control period.
  void heed(std::span<Command> decided);
  /// Before every further step of the control period.
  /// @return what the script goes on with, within this period; valid as above
  std::span<const Command> go_on(const RoadState& state);

 private:
  void ask(const RoadState& state);

  std::unique_ptr<Controller> script_;
  double control_period_s_;
  std::vector<Command> advice_;
  std::unordered_set<std::uint32_t> left_alone_;  ///< vehicles for which the policy did otherwise
  double next_s_ = 0;                             ///< when the script is to be asked again
  double end_s_ = 0;                              ///< of the control period
};

}  // namespace traffic::scene
