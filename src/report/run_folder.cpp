#include "traffic/report/run_folder.h"

#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <nlohmann/json.hpp>
#include <system_error>

#include "traffic/core/atomic_file.h"
#include "traffic/core/clock.h"
#include "traffic/core/error.h"
#include "traffic/core/process.h"

namespace traffic::report {
namespace {

namespace fs = std::filesystem;

void make_folders(const fs::path& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) throw io_error("create", path, error.value());
}

/// A folder that no other run has: mkdir decides between runs that start in the same second.
fs::path make_new_folder(const fs::path& parent) {
  make_folders(parent);
  const std::string stamp = utc_file_stamp();
  for (int attempt = 1;; ++attempt) {
    fs::path path = parent / (attempt == 1 ? stamp : fmt::format("{}-{}", stamp, attempt));
    std::error_code error;
    if (fs::create_directory(path, error)) return path;
    if (error) throw io_error("create", path, error.value());
  }
}

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

RunFolder create_run_folder(const std::string& dir, const std::string& name) {
  RunFolder folder(dir.empty() ? make_new_folder(fs::path("runs") / name) : fs::path(dir));
  for (const fs::path& path :
       {folder.root(), folder.logs(), folder.tensorboard(), folder.checkpoints()}) {
    make_folders(path);
  }
  return folder;
}

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
  json["cpus_available"] = num_cpus_available();
  json["memory_bytes"] = total_memory_bytes();
  json["gpus"] = environment.gpus;
  json["time"] = utc_timestamp();
  write_file_atomically(folder.environment(), json.dump(2) + "\n");
}

}  // namespace traffic::report
