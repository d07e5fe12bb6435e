// Finds the CPUs on which this process may run, and removes mpirun's restriction (affinity.h).
#include "traffic/os/affinity.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>

namespace traffic::os {
namespace {

/// Environment variable that mpirun's daemon sets for a process that it has bound to CPUs.
constexpr const char* kBoundByMpirun = "OMPI_MCA_orte_bound_at_launch";
/// Environment variable that exists if the user or the administrator has asked for a binding, by
/// --bind-to or in a settings file of Open MPI (MCA file).
constexpr const char* kBindingWish = "OMPI_MCA_hwloc_base_binding_policy";
constexpr std::array<std::string_view, 4> kLaunchers = {"mpirun", "orterun", "mpiexec", "orted"};

struct Ancestor {
  std::string name;
  pid_t parent = 0;
};

std::optional<Ancestor> look_up(pid_t pid) {
  std::ifstream status("/proc/" + std::to_string(pid) + "/status");
  Ancestor found;
  for (std::string key, value; status >> key && std::getline(status >> std::ws, value);) {
    if (key == "Name:") found.name = value;
    if (key == "PPid:") {
      found.parent = std::atoi(value.c_str());
      return found;
    }
  }
  return std::nullopt;
}

/// Process id of mpirun or its daemon that started this process, perhaps through scripts; 0 if this
/// process was started without mpirun.
pid_t find_launcher() {
  pid_t pid = getppid();
  while (pid > 1) {
    const auto ancestor = look_up(pid);
    if (!ancestor) return 0;
    if (std::find(kLaunchers.begin(), kLaunchers.end(), ancestor->name) != kLaunchers.end()) {
      return pid;
    }
    pid = ancestor->parent;
  }
  return 0;
}

}  // namespace

std::vector<int> cpus_available() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> cpus;
  if (sched_getaffinity(0, sizeof(set), &set) != 0) return cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
  }
  return cpus;
}

int num_cpus_available() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) != 0) {
    // The machine has more CPUs than a cpu_set_t holds.
    return static_cast<int>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)));
  }
  return std::max(1, CPU_COUNT(&set));
}

bool lift_binding_of_mpirun() noexcept {
  if (std::getenv(kBoundByMpirun) == nullptr || std::getenv(kBindingWish) != nullptr) return false;
  const pid_t launcher = find_launcher();
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (launcher == 0 || sched_getaffinity(launcher, sizeof(allowed), &allowed) != 0) return false;
  return sched_setaffinity(0, sizeof(allowed), &allowed) == 0;
}

}  // namespace traffic::os
