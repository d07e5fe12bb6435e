/// A driver that brakes where another driver's plan would lead into a vehicle, as the emergency
/// braking of a car does. `traffic_eval --driver guarded:...` uses it.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "traffic/driving/driver.h"

namespace traffic::driving {

/// Plans as another driver does. If the ego (the vehicle of a view) would touch another vehicle, it
/// brakes on the way of the plan, no harder than necessary. All other vehicles are expected to keep
/// speed and direction.
class GuardedDriver final : public Driver {
 public:
  /// @param driver must not be null
  explicit GuardedDriver(std::unique_ptr<Driver> driver);
  std::vector<Plan> plan(std::span<const View> views) override;

 private:
  std::unique_ptr<Driver> driver_;
};

/// The plan that a guarded driver follows instead of `plan`.
[[nodiscard]] Plan guarded(const View& view, const Plan& plan);

}  // namespace traffic::driving
