/// The batches of a loader on the device that computes with them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "traffic/comm/side_stream.h"
#include "traffic/data/traffic_batches.h"

namespace traffic::train {

struct FedBatch {
  data::Batch batch{};    ///< on the device
  double vehicles = 0.0;  ///< without those of a repeated sample
  double samples = 0.0;   ///< the same
};

/// With a side stream the next batch is made ready while a GPU computes with one (from page-locked
/// memory, if the loader was asked for that, without the host waiting). Stands between the loader
/// and the trainer: the loader may be one batch further than what was given out, state() is not.
class BatchFeeder {
 public:
  /// @param loader must outlive this, and is used by it alone
  /// @param side null: each batch is copied when it is asked for
  BatchFeeder(data::TrafficLoader& loader, at::Device device,
              std::unique_ptr<comm::SideStream> side = nullptr);

  void start_epoch(std::int64_t epoch);
  /// Nothing more is wanted of this epoch.
  void end_epoch();
  void restore(const data::SamplerState& state);
  /// The next batch, or nothing at the end of the epoch.
  /// @throws what the loader throws
  [[nodiscard]] std::optional<FedBatch> next();
  /// Reads the batch that next() will return and begins to copy it; to be called when the device
  /// has work enough. Without a side stream nothing is done.
  /// @throws what the loader throws
  void prepare();

  /// After the batches that next() has returned.
  [[nodiscard]] data::SamplerState state() const;
  [[nodiscard]] std::int64_t steps_left() const;

 private:
  [[nodiscard]] std::optional<FedBatch> fetch();

  data::TrafficLoader& loader_;
  at::Device device_;
  std::optional<data::SamplerState> state_before_ahead_;
  std::optional<FedBatch> ahead_;
  std::unique_ptr<comm::SideStream> side_;  ///< last, so that its work ends before what it uses
};

}  // namespace traffic::train
