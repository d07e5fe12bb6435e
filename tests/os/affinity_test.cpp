#include "traffic/os/affinity.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

#include "traffic/os/child_process.h"

namespace traffic::os {
namespace {

/// The CPUs that this test may use, lowest first.
std::vector<unsigned> cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  EXPECT_EQ(sched_getaffinity(0, sizeof(set), &set), 0);
  std::vector<unsigned> found;
  for (unsigned cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &set)) found.push_back(cpu);
  }
  return found;
}

struct Shown {
  int before = -1;
  int after = -1;
  int first = -1;
};

/// Runs show_cpus under a command such as "mpirun -np 1" and reads its output.
Shown show_cpus(const std::string& launcher) {
  const std::string settings =
      "unset OMPI_MCA_hwloc_base_binding_policy OMPI_MCA_orte_bound_at_launch; "
      "export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1; exec timeout 60 ";
  const auto output =
      run_program("/bin/sh", {"-c", settings + launcher + " " TRAFFIC_BIN_DIR "/os_show_cpus"});
  EXPECT_TRUE(output.exit.well()) << output.error;
  Shown shown;
  std::istringstream(output.out) >> shown.before >> shown.after >> shown.first;
  return shown;
}

TEST(Affinity, CountsTheCpusOfTheMask) {
  const std::vector<unsigned> all = cpus();
  EXPECT_EQ(num_cpus_available(), static_cast<int>(all.size()));
  const Shown one = show_cpus("taskset -c " + std::to_string(all.back()));
  EXPECT_EQ(one.before, 1);
}

TEST(Affinity, AMaskWithoutMpirunIsKept) {
  const int last = static_cast<int>(cpus().back());
  const Shown shown = show_cpus("taskset -c " + std::to_string(last));
  EXPECT_EQ(shown.after, 1);
  EXPECT_EQ(shown.first, last);
}

TEST(Affinity, TheDefaultBindingOfMpirunIsLifted) {
  const int all = static_cast<int>(cpus().size());
  EXPECT_EQ(show_cpus("mpirun -np 1").after, all);
  EXPECT_EQ(show_cpus("mpirun -np 1 sh -c '\"$0\"; true'").after, all)
      << "the binding must also be lifted if a shell starts the program";
}

TEST(Affinity, TheMaskOfMpirunItselfIsKept) {
  // Open MPI 4.1 binds to the machine's first core whatever its own mask is.
  const int last = static_cast<int>(cpus().back());
  const Shown shown = show_cpus("taskset -c " + std::to_string(last) + " mpirun -np 1");
  EXPECT_EQ(shown.after, 1);
  EXPECT_EQ(shown.first, last);
}

TEST(Affinity, ARequestedBindingIsKept) {
  const Shown core = show_cpus("mpirun -np 1 --bind-to core");
  EXPECT_EQ(core.after, core.before);
  const int last = static_cast<int>(cpus().back());
  const Shown task = show_cpus("mpirun -np 1 --bind-to none taskset -c " + std::to_string(last));
  EXPECT_EQ(task.after, 1);
  EXPECT_EQ(task.first, last);
}

}  // namespace
}  // namespace traffic::os
