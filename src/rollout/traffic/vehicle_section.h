/// The section of the agent `vehicles` as bytes.
#pragma once

#include "traffic/rollout/traffic/agent_format.h"
#include "traffic/rollout/traffic/bytes.h"
#include "traffic/rollout/traffic/period.h"

namespace traffic::rollout {

/// @throws WorkerError if the section does not fit
void write_vehicles(const VehicleSection& vehicles, ByteWriter& section);

AgentFormat vehicles_format();

}  // namespace traffic::rollout
