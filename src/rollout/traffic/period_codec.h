/// A control period as bytes in shared memory: a head, the growth of the objective, then a section
/// for each agent that acts. Heads hold counts. The reader derives every offset from them and
/// checks it against the size of the buffer, because a broken simulation may have written wrong
/// counts.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string_view>

#include "traffic/config/config.h"
#include "traffic/rollout/traffic/bytes.h"
#include "traffic/rollout/traffic/period.h"

namespace traffic::rollout {

/// Maximum size of a period in which the agents of env.agents act. Memory that is not written costs
/// nothing.
std::size_t period_bytes(const config::Config& config);

/// Writes one period into a buffer.
class PeriodWriter {
 public:
  /// Writes everything but the sections of the agents.
  /// @throws WorkerError if it does not fit
  PeriodWriter(const Period& period, std::span<std::byte> buffer);

  /// Adds the section of an agent.
  /// @param write writes its content
  /// @throws WorkerError if it does not fit
  void add(std::string_view agent, const std::function<void(ByteWriter&)>& write);
  /// Size of the period in bytes so far.
  [[nodiscard]] std::size_t size() const { return writer_.used(); }

 private:
  ByteWriter writer_;
};

/// Reads a period and checks everything in it: counts, indices, order, finite numbers. The views
/// point into the bytes.
/// @param out overwritten
/// @throws WorkerError naming what is wrong
void read_period(std::span<const std::byte> bytes, Period& out);

}  // namespace traffic::rollout
