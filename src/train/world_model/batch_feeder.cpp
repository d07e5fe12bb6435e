#include "world_model/batch_feeder.h"

#include <utility>

namespace traffic::train {

BatchFeeder::BatchFeeder(data::TrafficLoader& loader, at::Device device,
                         std::unique_ptr<comm::SideStream> side)
    : loader_(loader), device_(device), side_(std::move(side)) {}

void BatchFeeder::start_epoch(std::int64_t epoch) {
  if (side_) side_->join();
  ahead_.reset();
  loader_.start_epoch(epoch);
}

void BatchFeeder::end_epoch() {
  if (side_) side_->join();
  ahead_.reset();
  loader_.end_epoch();
}

void BatchFeeder::restore(const data::SamplerState& state) {
  if (side_) side_->join();
  ahead_.reset();
  loader_.restore(state);
}

std::optional<FedBatch> BatchFeeder::next() {
  if (!side_) {
    std::optional<FedBatch> fed = fetch();
    if (fed) fed->batch = fed->batch.to(device_);
    return fed;
  }
  prepare();
  side_->join();
  return std::exchange(ahead_, std::nullopt);
}

/// Reads the next batch into host memory.
std::optional<FedBatch> BatchFeeder::fetch() {
  std::optional<data::Batch> batch = loader_.next();
  if (!batch) return std::nullopt;
  // Count before the batch is on a device, where reading a value would wait for all pending work.
  FedBatch fed;
  const auto weight = batch->sample_weight.accessor<float, 1>();
  const auto begin = batch->sample_ptr.accessor<std::int32_t, 1>();
  for (std::int64_t i = 0; i < batch->num_samples(); ++i) {
    fed.samples += weight[i];
    fed.vehicles += static_cast<double>(weight[i]) * (begin[i + 1] - begin[i]);
  }
  fed.batch = std::move(*batch);
  return fed;
}

void BatchFeeder::prepare() {
  if (!side_ || ahead_) return;
  state_before_ahead_ = loader_.state();
  ahead_ = fetch();
  if (ahead_) side_->submit([this] { ahead_->batch = ahead_->batch.to(device_); });
}

data::SamplerState BatchFeeder::state() const {
  return ahead_ ? *state_before_ahead_ : loader_.state();
}

std::int64_t BatchFeeder::steps_left() const { return loader_.steps_left() + (ahead_ ? 1 : 0); }

}  // namespace traffic::train
