#include "traffic/report/run_folder.h"

#include <fstream>
#include <nlohmann/json.hpp>

#include "traffic/core/atomic_file.h"
#include "traffic/core/clock.h"
#include "traffic/core/error.h"
#include "traffic/core/process.h"
#include "traffic/core/version.h"

namespace traffic::report {
namespace {

std::string cpu_model() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  }
  return "unknown";
}

}  // namespace

std::filesystem::path default_run_dir(const std::string& name) {
  return std::filesystem::path("runs") / name / utc_file_stamp();
}

void write_run_folder(const std::filesystem::path& dir, const std::string& config_toml,
                      const std::map<std::string, std::string>& facts) {
  std::error_code error;
  std::filesystem::create_directories(dir, error);
  if (error) {
    throw ResourceError("cannot create the run folder {}: {}; choose another --run-dir",
                        dir.string(), error.message());
  }
  write_file_atomically(dir / "config.toml", config_toml);
  nlohmann::ordered_json environment{{"program_version", version()},
                                     {"compiler", __VERSION__},
                                     {"hostname", hostname()},
                                     {"cpu", cpu_model()},
                                     {"cpus_available", num_cpus_available()},
                                     {"memory_bytes", total_memory_bytes()}};
  for (const auto& [name, value] : facts) environment[name] = value;
  write_file_atomically(dir / "environment.json", environment.dump(2) + "\n");
}

}  // namespace traffic::report
