// Selects how Open MPI transports its messages (transport.h).
#include "transport.h"

#include <ifaddrs.h>
#include <net/if.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

namespace traffic::comm {
namespace {

namespace fs = std::filesystem;

constexpr const char* kInclude = "btl_tcp_if_include";
constexpr const char* kExclude = "btl_tcp_if_exclude";

std::string environment(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  return value == nullptr ? std::string() : value;
}

/// Reads the environment, because MPI is not initialised yet. mpirun sets one variable to the
/// number of all ranks and another to the number of ranks on this machine. Without a launcher there
/// is one rank. A launcher that sets only PMIX_RANK (srun) may have started ranks on several
/// machines.
bool is_on_one_machine() {
  const std::string ranks = environment("OMPI_COMM_WORLD_SIZE");
  if (!ranks.empty()) return ranks == environment("OMPI_COMM_WORLD_LOCAL_SIZE");
  return environment("PMIX_RANK").empty();
}

bool has_network() {
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) != 0) return false;
  bool found = false;
  for (const ifaddrs* i = list; i != nullptr; i = i->ifa_next) {
    found = found || (i->ifa_addr != nullptr && i->ifa_addr->sa_family == AF_INET &&
                      (i->ifa_flags & IFF_UP) != 0 && (i->ifa_flags & IFF_LOOPBACK) == 0);
  }
  freeifaddrs(list);
  return found;
}

/// Whether a settings file of Open MPI chooses network interfaces. Open MPI aborts a job if its
/// settings both include and exclude interfaces. choose_transport() therefore must not add a choice
/// to one that the site has made.
bool names_interfaces(const fs::path& settings) {
  std::ifstream file(settings);
  for (std::string line; std::getline(file, line);) {
    const std::size_t first = line.find_first_not_of(" \t");
    if (first == std::string::npos || line[first] == '#') continue;
    for (const char* key : {kInclude, kExclude}) {
      if (line.compare(first, std::strlen(key), key) == 0) return true;
    }
  }
  return false;
}

bool are_interfaces_chosen() {
  for (const char* key : {kInclude, kExclude}) {
    if (!environment(std::string("OMPI_MCA_") + key).empty()) return true;
  }
  const std::array<fs::path, 3> settings = {
      fs::path(environment("HOME")) / ".openmpi/mca-params.conf",
      fs::path(environment("OPAL_PREFIX")) / "etc/openmpi-mca-params.conf",
      "/etc/openmpi/openmpi-mca-params.conf"};
  return std::ranges::any_of(settings, names_interfaces);
}

}  // namespace

void choose_transport() {
  // Excludes "vader", the transport in shared memory, for the reasons in transport.h. Also excludes
  // "ofi", as Open MPI does by default: it needs a second to find out that it has no hardware.
  setenv("OMPI_MCA_btl", "^vader,ofi", /*overwrite=*/0);
  if ((is_on_one_machine() || !has_network()) && !are_interfaces_chosen()) {
    setenv(("OMPI_MCA_" + std::string(kInclude)).c_str(), "lo", /*overwrite=*/0);
  }
}

}  // namespace traffic::comm
