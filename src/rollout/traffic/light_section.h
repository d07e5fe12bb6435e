/// Encodes and decodes the section of the agent `lights` (all traffic lights) in messages between a
/// simulation and the rank that trains with it.
#pragma once

#include "traffic/rollout/traffic/agent_format.h"
#include "traffic/rollout/traffic/bytes.h"
#include "traffic/rollout/traffic/period.h"

namespace traffic::rollout {

/// @throws WorkerError if the section does not fit
void write_lights(const LightSection& lights, ByteWriter& section);

/// The entry of the agent `lights` in the table of agents (agent_format.h).
AgentFormat lights_format();

}  // namespace traffic::rollout
