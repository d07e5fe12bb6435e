/// Copies the batches of a data loader to the device (CPU or GPU) that trains on them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "traffic/comm/side_stream.h"
#include "traffic/data/traffic_batches.h"

namespace traffic::train {

/// A batch and its size.
struct FedBatch {
  data::Batch batch{};  ///< on the device
  // These numbers leave out samples that are only repeated to fill the last batch of an epoch.
  double vehicles = 0.0;  ///< number of vehicles
  double samples = 0.0;   ///< number of samples
};

/// Returns the batches of a loader one by one. With a side stream (a queue of work beside the main
/// computation), it copies the next batch while the GPU computes with the current batch. If the
/// loader uses page-locked memory, the host does not wait for the copy. The feeder may have read
/// one batch more than next() has returned; state() does not include that batch.
class BatchFeeder {
 public:
  /// @param loader must outlive this object, which is its only user
  /// @param side side stream for the copies; if null, next() copies each batch itself
  BatchFeeder(data::TrafficLoader& loader, at::Device device,
              std::unique_ptr<comm::SideStream> side = nullptr);

  void start_epoch(std::int64_t epoch);
  /// Ends the epoch, even if it has batches left.
  void end_epoch();
  void restore(const data::SamplerState& state);
  /// The next batch, or nothing at the end of the epoch.
  /// @throws the exceptions of the loader
  [[nodiscard]] std::optional<FedBatch> next();
  /// Reads the batch that next() will return and starts to copy it. Call it when the device has
  /// enough work. Does nothing without a side stream.
  /// @throws the exceptions of the loader
  void prepare();

  /// State after the batches that next() has returned.
  [[nodiscard]] data::SamplerState state() const;
  /// Number of batches of this epoch that next() has not returned yet.
  [[nodiscard]] std::int64_t steps_left() const;

 private:
  [[nodiscard]] std::optional<FedBatch> fetch();

  data::TrafficLoader& loader_;
  at::Device device_;
  std::optional<data::SamplerState> state_before_ahead_;
  std::optional<FedBatch> ahead_;
  std::unique_ptr<comm::SideStream> side_;  ///< declared last: its work must end before the members
                                            ///< that it uses are destroyed
};

}  // namespace traffic::train
