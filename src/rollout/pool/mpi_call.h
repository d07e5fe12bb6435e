/// TRAFFIC_ROLLOUT_MPI(call) makes an MPI call and throws an error if it fails.
#pragma once

#define OMPI_SKIP_MPICXX 1
#include <mpi.h>

namespace traffic::rollout {

/// @throws WorkerError with MPI's error text if `result` is an error code
void check_mpi(int result, const char* call);

#define TRAFFIC_ROLLOUT_MPI(call) ::traffic::rollout::check_mpi((call), #call)

}  // namespace traffic::rollout
