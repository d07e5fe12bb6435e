/// Drivers that follow rules: baselines for a driving policy.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "traffic/driving/driver.h"
#include "traffic/driving/road_index.h"

namespace traffic::driving {

/// Keeps speed and direction.
class ConstantVelocityDriver final : public Driver {
 public:
  std::vector<Plan> plan(std::span<const View> views) override;
};

struct IdmParameters {
  double time_gap_s = 1.0;
  double min_gap_m = 2.5;
  double accel_mps2 = 2.0;
  double decel_mps2 = 3.0;
  double max_decel_mps2 = 8.0;
  double lateral_accel_mps2 = 2.5;  ///< limits the speed in turns
};

/// Drives along its route on the lanes' centre lines and keeps its distance by the intelligent
/// driver model (Treiber, Hennecke and Helbing 2000). It stops at red lights, and for vehicles that
/// will cross its way and get there first. It changes lanes if its route requires this and there is
/// a gap.
class IdmDriver final : public Driver {
 public:
  explicit IdmDriver(const IdmParameters& parameters = {}) : parameters_(parameters) {}
  std::vector<Plan> plan(std::span<const View> views) override;

 private:
  [[nodiscard]] Plan plan_one(const View& view) const;

  IdmParameters parameters_;
  const RoadMap* map_ = nullptr;  ///< the map that roads_ describes
  std::unique_ptr<RoadIndex> roads_;
};

}  // namespace traffic::driving
