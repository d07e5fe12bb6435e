/// The table of agents in a rank. An agent is a kind of thing that a policy controls; the shipped
/// agents are vehicles and lights. For each agent the table tells how its sections in messages
/// (sections.h) are encoded and which program simulates it.
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

/// A row of the table: one agent.
struct AgentFormat {
  std::string_view agent;  ///< name of the agent in env.agents
  /// Maximum sizes of its section in an order and in an answer. A generous maximum is cheap,
  /// because memory is allocated only when it is written.
  std::function<std::size_t(const config::Config&)> order_bytes;
  std::function<std::size_t(const config::Config&)> answer_bytes;
  /// Reads and checks the agent's section of an answer, and adds it to period.sections. All members
  /// of the period except `sections` have been read before.
  /// @throws WorkerError naming what is wrong; the episode is then lost
  std::function<void(ByteReader& section, Period& period)> read;
  /// Name of the program that simulates the agent. It is in the same folder as the running program.
  std::string_view program = "sumo_env";
  /// Sections of the configuration file that belong to this agent alone. Empty for the shipped
  /// agents, whose sections are fields of config::Config.
  std::vector<config::OwnSection> own_sections = {};
};

/// All rows: vehicles, lights, then the agents added by add_agent_format().
std::span<const AgentFormat> agent_formats();
/// The format of an agent.
/// @throws WorkerError if there is no such agent
const AgentFormat& format_of(std::string_view agent);
/// Adds an agent to the table and to the names that env.agents accepts. Call it before a
/// configuration is read.
/// @throws Error if there is an agent of that name already
void add_agent_format(AgentFormat format);

}  // namespace traffic::rollout
