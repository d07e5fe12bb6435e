/// Prints three numbers such as "1 2 0": on how many CPUs this process may run before and after
/// lift_binding_of_mpirun(), and the first CPU after it.
#include <sched.h>

#include <cstdio>

#include "traffic/os/affinity.h"

int main() {
  const int before = traffic::os::num_cpus_available();
  traffic::os::lift_binding_of_mpirun();
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0) return 1;
  int first = 0;
  while (first < CPU_SETSIZE && !CPU_ISSET(static_cast<unsigned>(first), &allowed)) ++first;
  std::printf("%d %d %d\n", before, traffic::os::num_cpus_available(), first);
}
