/// CPUs on which this process may run.
#pragma once

#include <vector>

namespace traffic::os {

/// CPUs that the affinity mask of this process allows; at least 1.
int num_cpus_available();

/// Their numbers, ascending; empty if the kernel does not say.
std::vector<int> cpus_available();

/// Undoes what mpirun has bound of its own accord: Open MPI binds each of two ranks to one core and
/// more to a socket, where threads and simulations would crowd. This thread then may run where
/// mpirun may, which is what taskset, numactl, SLURM or the control group gave the job. A binding
/// that somebody asked for stays: mpirun --bind-to, srun --cpu-bind.
/// @return whether there was such a binding
bool lift_binding_of_mpirun() noexcept;

}  // namespace traffic::os
