// Writes environment.json: the program, the machine and the libraries of a run.
#include "traffic/report/run_folder.h"
#include "traffic/os/affinity.h"

#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "traffic/core/atomic_file.h"
#include "traffic/core/clock.h"
#include "traffic/core/process.h"

namespace traffic::report {
namespace {

std::string cpu_model() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const auto colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown";
}

std::string operating_system() {
  utsname names{};
  if (::uname(&names) != 0) return "unknown";
  return fmt::format("{} {} {}", names.sysname, names.release, names.machine);
}

}  // namespace

void write_environment(const RunFolder& folder, const Environment& environment) {
  nlohmann::ordered_json json;
  json["program"] = environment.program;
  json["version"] = environment.version;
  json["build_type"] = environment.build_type;
  json["compiler"] = environment.compiler;
  json["command_line"] = environment.command_line;
  json["world_size"] = environment.world_size;
  json["libraries"] = nlohmann::ordered_json::object();
  for (const auto& [library, version] : environment.libraries) json["libraries"][library] = version;
  json["hostname"] = hostname();
  json["operating_system"] = operating_system();
  json["cpu_model"] = cpu_model();
  json["cpus_online"] = ::sysconf(_SC_NPROCESSORS_ONLN);
  json["cpus_available"] = os::num_cpus_available();
  json["memory_bytes"] = total_memory_bytes();
  json["gpus"] = environment.gpus;
  json["time"] = utc_timestamp();
  write_file_atomically(folder.environment(), json.dump(2) + "\n");
}

}  // namespace traffic::report
