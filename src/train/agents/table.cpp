#include "agents/table.h"

#include <algorithm>
#include <utility>

#include "agents/lights.h"
#include "agents/vehicles.h"

namespace traffic::train {
namespace {

std::vector<AgentRow>& all_rows() {
  static std::vector<AgentRow> all{vehicles_agent(), lights_agent()};
  return all;
}

}  // namespace

std::vector<AgentRow> acting_rows(const config::Env& env) {
  std::vector<AgentRow> acting;
  for (const AgentRow& row : all_rows()) {
    if (std::ranges::find(env.agents, row.format.agent) != env.agents.end()) acting.push_back(row);
  }
  return acting;
}

void add_agent(AgentRow row) {
  rollout::add_agent_format(row.format);
  all_rows().push_back(std::move(row));
}

}  // namespace traffic::train
