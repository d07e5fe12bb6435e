/// How fast ranks reach each other, and whether sums over them are right.
#pragma once

#include <c10/core/Device.h>

#include "traffic/comm/communicator.h"
#include "traffic/comm/mpi_session.h"
#include "traffic/config/config.h"
#include "traffic/train/doctor/doctor.h"

namespace traffic::train {

/// Collective: gradients of the default model, summed over the ranks, and a number.
Finding measure_communication(comm::Communicator& communicator, const comm::Topology& topology);

/// Collective. The same between the GPUs of the ranks; what failed is the same on all ranks.
Finding examine_gpu_communication(const comm::MpiSession& session, at::Device device,
                                  const config::Comm& comm);

}  // namespace traffic::train
