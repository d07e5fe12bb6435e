/// A control period of traffic lights as bytes, as period_codec.h has those of vehicles. Episodes
/// are described as there.
#pragma once

#include <cstddef>
#include <span>

#include "traffic/rollout/traffic/signal_period.h"

namespace traffic::rollout {

/// Room for the lights of a large city; what is not used costs no memory.
inline constexpr std::size_t kSignalAnswerBytes = std::size_t{16} << 20;
inline constexpr std::size_t kSignalOrderBytes = std::size_t{1} << 18;

/// @return bytes of the whole
/// @throws WorkerError if it does not fit
std::size_t write_signal_period(const SignalPeriod& period, std::span<std::byte> room);
/// Reads a period and checks that everything in it is what it should be. The views point into the
/// bytes.
/// @throws WorkerError naming what is wrong
SignalPeriod read_signal_period(std::span<const std::byte> bytes);

/// Commands are their own bytes.
std::span<const scene::SignalCommand> read_signal_commands(std::span<const std::byte> bytes);

}  // namespace traffic::rollout
