/// The section of the agent `lights` as bytes.
#pragma once

#include "traffic/rollout/traffic/agent_format.h"
#include "traffic/rollout/traffic/bytes.h"
#include "traffic/rollout/traffic/period.h"

namespace traffic::rollout {

/// @throws WorkerError if the section does not fit
void write_lights(const LightSection& lights, ByteWriter& section);

AgentFormat lights_format();

}  // namespace traffic::rollout
