/// Encodes and decodes Period, the answer of a simulation after a control period (the time between
/// two decisions). The bytes in shared memory are a head, the growth of the objective
/// (env.objective) in each step, then a section for each agent in env.agents.
///
/// Heads hold the sizes of arrays. The reader checks every array against the size of the buffer,
/// because a broken simulation may have written wrong sizes.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string_view>

#include "traffic/config/config.h"
#include "traffic/rollout/traffic/bytes.h"
#include "traffic/rollout/traffic/period.h"

namespace traffic::rollout {

/// Maximum size in bytes of a period with the agents of env.agents. A generous maximum is cheap,
/// because memory is allocated only when it is written.
std::size_t period_bytes(const config::Config& config);

/// Writes one period into a buffer.
class PeriodWriter {
 public:
  /// Writes the head and the growth of the objective.
  /// @throws WorkerError if it does not fit
  PeriodWriter(const Period& period, std::span<std::byte> buffer);

  /// Adds the section of an agent.
  /// @param write function that writes the content of the section
  /// @throws WorkerError if it does not fit
  void add(std::string_view agent, const std::function<void(ByteWriter&)>& write);
  /// Size of the period in bytes so far.
  [[nodiscard]] std::size_t size() const { return writer_.used(); }

 private:
  ByteWriter writer_;
};

/// Reads a period and checks its counts, its indices, its order, and that its numbers are finite.
/// The views in the result point into `bytes`.
/// @param out overwritten
/// @throws WorkerError naming what is wrong
void read_period(std::span<const std::byte> bytes, Period& out);

}  // namespace traffic::rollout
