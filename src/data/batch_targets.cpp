// The function of BatchBuilder that fills the targets of the losses.
#include "batch_builder.h"

namespace traffic::data {

/// Whether the time to collision with the leader (the vehicle ahead) is below conflict_ttc_s.
/// @param features one vehicle's node features in physical units
bool BatchBuilder::in_conflict(const float* features) const {
  const float closing_mps = -features[columns_.leader_relative_speed];
  return closing_mps > 0 &&
         features[columns_.leader_gap] < closing_mps * static_cast<float>(options_.conflict_ttc_s);
}

void BatchBuilder::fill_targets(const BatchPlan& plan, Batch& batch) const {
  const auto vehicles = static_cast<std::int64_t>(plan.num_vehicles);
  const auto horizon = static_cast<std::int64_t>(plan.horizon);
  const auto of_now = [&](at::Tensor& t) {
    t = tensor({vehicles}, at::kFloat);
    return t.mutable_data_ptr<float>();
  };
  const auto of_future = [&](at::Tensor& t) {
    t = at::zeros({vehicles, horizon},
                  at::TensorOptions().dtype(at::kFloat).pinned_memory(options_.pin_memory));
    return t.mutable_data_ptr<float>();
  };
  auto* speed = of_now(batch.speed_mps);
  auto* acceleration = of_now(batch.acceleration_mps2);
  auto* lane = of_now(batch.lane);
  auto* future_displacement = of_future(batch.future_displacement_m);
  auto* future_speed = of_future(batch.future_speed_mps);
  auto* future_acceleration = of_future(batch.future_acceleration_mps2);
  auto* future_lane = of_future(batch.future_lane);
  auto* conflict = of_now(batch.conflict);
  batch.future_mask = tensor({vehicles, horizon}, at::kBool);
  batch.conflict_mask = tensor({vehicles}, at::kBool);
  auto* future_mask = batch.future_mask.mutable_data_ptr<bool>();
  auto* conflict_mask = batch.conflict_mask.mutable_data_ptr<bool>();

  for (const Window& window : plan.windows) {
    const PackedFrames& frames = window.block->frames;
    const auto features_of = [&](std::int32_t row) {
      return frames.node_features.data() + static_cast<std::size_t>(row) * num_features_;
    };
    for (std::size_t s = window.first; s < window.first + window.vehicles.size(); ++s) {
      const std::int32_t now_row = plan.row(plan.history - 1, s);
      const float* now = features_of(now_row);
      const float now_position = frames.position_m[static_cast<std::size_t>(now_row)];
      speed[s] = now[columns_.speed];
      acceleration[s] = now[columns_.acceleration];
      lane[s] = now[columns_.lane];
      bool any_future = false;
      bool any_conflict = false;
      for (std::size_t h = 0; h < plan.horizon; ++h) {
        const std::int32_t row = plan.row(plan.history + h, s);
        const std::size_t at = s * plan.horizon + h;
        future_mask[at] = row >= 0;
        if (row < 0) continue;
        const float* then = features_of(row);
        future_displacement[at] = frames.position_m[static_cast<std::size_t>(row)] - now_position;
        future_speed[at] = then[columns_.speed];
        future_acceleration[at] = then[columns_.acceleration];
        future_lane[at] = then[columns_.lane];
        any_future = true;
        any_conflict = any_conflict || in_conflict(then);
      }
      conflict[s] = any_conflict ? 1.0F : 0.0F;
      conflict_mask[s] = any_future && has_leaders_;
    }
  }
}

}  // namespace traffic::data
