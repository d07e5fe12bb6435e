// Batch: counts the bytes of a batch of recorded traffic, and moves it to a device.
#include "traffic/data/batch.h"

#include <array>

namespace traffic::data {
namespace {

constexpr std::array kTensors{&Batch::node_features,
                              &Batch::present,
                              &Batch::edge_ptr,
                              &Batch::edge_src,
                              &Batch::edge_features,
                              &Batch::sample_ptr,
                              &Batch::speed_mps,
                              &Batch::acceleration_mps2,
                              &Batch::lane,
                              &Batch::future_displacement_m,
                              &Batch::future_speed_mps,
                              &Batch::future_acceleration_mps2,
                              &Batch::future_lane,
                              &Batch::future_mask,
                              &Batch::conflict,
                              &Batch::conflict_mask,
                              &Batch::sample_id,
                              &Batch::sample_weight};
static_assert(sizeof(Batch) == kTensors.size() * sizeof(at::Tensor), "a tensor is not in the list");

}  // namespace

std::int64_t Batch::num_bytes() const {
  std::int64_t bytes = 0;
  for (const auto tensor : kTensors) bytes += static_cast<std::int64_t>((this->*tensor).nbytes());
  return bytes;
}

Batch Batch::to(at::Device device) const {
  Batch moved;
  for (const auto tensor : kTensors) {
    moved.*tensor = (this->*tensor).to(device, /*non_blocking=*/true);
  }
  return moved;
}

}  // namespace traffic::data
