/// A control period's outcome as bytes in a slot. Lengths are counts; the reader derives every
/// offset from them and checks it against the slot, so that no count of a broken simulation leads
/// outside it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "traffic/rollout/traffic/period.h"
#include "traffic/scene/frame.h"

namespace traffic::rollout {

/// Room for the outcome of a period with so many frames of so many vehicles.
std::size_t period_bytes(std::int64_t max_frames, std::int64_t max_vehicles);

/// Writes one period into a buffer, frame by frame as they come.
class PeriodWriter {
 public:
  /// A new period.
  void begin(std::span<std::byte> buffer);
  /// @throws WorkerError if it does not fit
  void add_frame(const scene::GraphFrame& frame);
  /// Everything but the frames.
  /// @return bytes of the whole
  /// @throws WorkerError if it does not fit
  std::size_t finish(const Period& period);

 private:
  template <typename T>
  void put(std::span<const T> values);

  std::span<std::byte> buffer_;
  std::size_t used_ = 0;
  std::uint32_t num_frames_ = 0;
};

/// Reads a period and checks that everything in it is what it should be: counts, indices, order,
/// finite numbers. The views point into the bytes.
/// @param out overwritten; its vector is reused
/// @throws WorkerError naming what is wrong
void read_period(std::span<const std::byte> bytes, Period& out);

/// The payloads of commands.
inline constexpr std::size_t kEpisodeBytes = 256;
std::array<std::byte, kEpisodeBytes> write_episode(const EpisodeSpec& spec);
EpisodeSpec read_episode(std::span<const std::byte> bytes);
/// Commands are their own bytes.
inline std::span<const std::byte> write_commands(std::span<const scene::Command> commands) {
  return std::as_bytes(commands);
}
std::span<const scene::Command> read_commands(std::span<const std::byte> bytes);
/// Room for an episode's description and a command for every vehicle.
std::size_t order_bytes(std::int64_t max_vehicles);

static_assert(std::is_trivially_copyable_v<scene::Command>);
static_assert(std::is_trivially_copyable_v<scene::EpisodeScore>);

}  // namespace traffic::rollout
