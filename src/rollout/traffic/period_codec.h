/// A control period as bytes in shared memory: a head, then a section for each agent. The head
/// holds counts; the reader derives every offset from them and checks it against the buffer, so
/// that no count of a broken simulation leads outside it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "bytes.h"
#include "traffic/rollout/traffic/period.h"
#include "traffic/scene/frame.h"

namespace traffic::rollout {

/// Room for a period with so many frames of so many vehicles and the lights of a large city. Memory
/// that is not written costs nothing.
std::size_t period_bytes(std::int64_t max_frames, std::int64_t max_vehicles);

/// Writes one period into a buffer. Frames are written as they are made, the rest at the end.
class PeriodWriter {
 public:
  /// Starts a new period.
  void begin(std::span<std::byte> buffer);
  /// @throws WorkerError if the frame does not fit
  void add_frame(const scene::GraphFrame& frame);
  /// Writes everything but the frames.
  /// @return size of the whole period in bytes
  /// @throws WorkerError if it does not fit
  std::size_t finish(const Period& period);

 private:
  ByteWriter writer_;
  std::uint32_t num_frames_ = 0;
};

/// Reads a period and checks everything in it: counts, indices, order, finite numbers. The views
/// point into the bytes.
/// @param out overwritten; its vector is reused
/// @throws WorkerError naming what is wrong
void read_period(std::span<const std::byte> bytes, Period& out);

}  // namespace traffic::rollout
