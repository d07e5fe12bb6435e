/// Orders to a simulation as bytes: an episode (reset) or what the agents do next (step).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "traffic/rollout/traffic/period.h"

namespace traffic::rollout {

inline constexpr std::size_t kEpisodeBytes = 256;
std::array<std::byte, kEpisodeBytes> write_episode(const EpisodeSpec& spec);
/// @throws WorkerError if the bytes do not describe an episode
EpisodeSpec read_episode(std::span<const std::byte> bytes);

/// Replaces `bytes` by the encoded orders.
void write_orders(const Orders& orders, std::vector<std::byte>& bytes);
/// @return views into the bytes
/// @throws WorkerError if the bytes are not orders
Orders read_orders(std::span<const std::byte> bytes);

/// Room for an episode, or for a command to every vehicle and every light.
std::size_t order_bytes(std::int64_t max_vehicles);

}  // namespace traffic::rollout
