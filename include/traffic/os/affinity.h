/// Finds the CPUs on which this process may run, and removes mpirun's default restriction of them.
#pragma once

#include <vector>

namespace traffic::os {

/// Number of CPUs that the affinity mask of this process allows; at least 1.
int num_cpus_available();

/// Numbers of the CPUs that the affinity mask allows, ascending; empty if the kernel does not
/// report them.
std::vector<int> cpus_available();

/// Undoes the default binding of mpirun. Open MPI binds each rank to one core if there are at most
/// two ranks, and otherwise to a socket, so that threads and simulations of a rank would share too
/// few cores. After this call this thread may run on all CPUs that taskset, numactl, SLURM or the
/// control group gave the job. A binding that the user asked for (mpirun --bind-to, srun
/// --cpu-bind) stays.
/// @return whether a default binding was undone
bool lift_binding_of_mpirun() noexcept;

}  // namespace traffic::os
