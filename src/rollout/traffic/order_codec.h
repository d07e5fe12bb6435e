/// Encodes and decodes the orders of a rank to a simulation: the description of an episode (for a
/// reset), or the commands of the agents for the next control period (for a step).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "traffic/config/config.h"
#include "traffic/rollout/traffic/episode.h"
#include "traffic/rollout/traffic/sections.h"

namespace traffic::rollout {

inline constexpr std::size_t kEpisodeBytes = 256;
/// Encodes the description of an episode.
std::array<std::byte, kEpisodeBytes> write_episode(const EpisodeSpec& spec);
/// @throws WorkerError if the bytes do not describe an episode
EpisodeSpec read_episode(std::span<const std::byte> bytes);

/// Encodes the commands to all agents. @param bytes overwritten with the result
void write_orders(const Orders& orders, std::vector<std::byte>& bytes);
/// The commands to one agent.
struct OrderSection {
  std::string agent;
  std::span<const std::byte> commands;  ///< a view into the bytes that were read
};
/// @throws WorkerError if the bytes are not orders
std::vector<OrderSection> read_orders(std::span<const std::byte> bytes);

/// Maximum size in bytes of an order: the description of an episode, or commands to the agents of
/// env.agents.
std::size_t order_bytes(const config::Config& config);

}  // namespace traffic::rollout
