/// The table of agents as a rank knows them: how their sections are encoded, and which program
/// simulates them. The shipped agents are vehicles and lights.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "traffic/config/schema.h"
#include "traffic/rollout/traffic/bytes.h"
#include "traffic/rollout/traffic/period.h"

namespace traffic::rollout {

struct AgentFormat {
  std::string_view agent;  ///< its name in env.agents
  /// Maximum size of its section in an order, and in an answer. Memory that is not written costs
  /// nothing.
  std::function<std::size_t(const config::Config&)> order_bytes;
  std::function<std::size_t(const config::Config&)> answer_bytes;
  /// Reads and checks its section of an answer, and adds it to period.sections. The rest of the
  /// period has been read before.
  /// @throws WorkerError naming what is wrong; the episode is then lost
  std::function<void(ByteReader& section, Period& period)> read;
  /// The program of the simulations in which the agent acts. It lies beside the running program.
  std::string_view program = "sumo_env";
  /// Sections of the configuration that belong to this agent alone. Those of the shipped agents are
  /// fields of config::Config.
  std::vector<config::OwnSection> own_sections = {};
};

/// Vehicles, lights, then the agents that were added.
std::span<const AgentFormat> agent_formats();
/// The format of an agent.
/// @throws WorkerError if there is no such agent
const AgentFormat& format_of(std::string_view agent);
/// Adds an agent, also to the choices of env.agents. Call it before a configuration is read.
/// @throws Error if there is an agent of that name already
void add_agent_format(AgentFormat format);

}  // namespace traffic::rollout
