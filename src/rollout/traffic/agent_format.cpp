// The table of agents: how long the sections of each agent in messages can be, how its section of
// an answer is read, and which program simulates it.
#include "traffic/rollout/traffic/agent_format.h"

#include <algorithm>
#include <utility>

#include "light_section.h"
#include "traffic/core/error.h"
#include "vehicle_section.h"

namespace traffic::rollout {
namespace {

std::vector<AgentFormat>& formats() {
  static std::vector<AgentFormat> all{vehicles_format(), lights_format()};
  return all;
}

}  // namespace

std::span<const AgentFormat> agent_formats() { return formats(); }

const AgentFormat& format_of(std::string_view agent) {
  const auto all = agent_formats();
  const auto found = std::ranges::find(all, agent, &AgentFormat::agent);
  if (found == all.end()) throw WorkerError("there is no agent '{}'", agent);
  return *found;
}

void add_agent_format(AgentFormat format) {
  config::register_agent(format.agent, format.own_sections);
  formats().push_back(std::move(format));
}

}  // namespace traffic::rollout
