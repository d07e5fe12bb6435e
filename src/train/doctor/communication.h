/// Checks of traffic_doctor: measures the speed of communication between ranks, and checks that
/// sums over the ranks are right.
#pragma once

#include <c10/core/Device.h>

#include "traffic/comm/communicator.h"
#include "traffic/comm/mpi_session.h"
#include "traffic/config/config.h"
#include "traffic/train/doctor/doctor.h"

namespace traffic::train {

/// Collective. Sums gradients of the default model's size, and a single number, over the ranks.
Finding measure_communication(comm::Communicator& communicator, const comm::Topology& topology);

/// Collective. Connects the GPUs of the ranks and calls measure_communication() for them. If
/// connecting fails, all ranks return the same failure.
Finding examine_gpu_communication(const comm::MpiSession& session, at::Device device,
                                  const config::Comm& comm);

}  // namespace traffic::train
