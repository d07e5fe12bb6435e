/// RunFolder: the paths of the files in the folder of a run (docs/reference/run-folder.md).
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace traffic::report {

/// No function of this class accesses the disk.
class RunFolder {
 public:
  explicit RunFolder(std::filesystem::path root) : root_(std::move(root)) {}

  [[nodiscard]] const std::filesystem::path& root() const { return root_; }
  [[nodiscard]] std::filesystem::path config() const { return root_ / "config.toml"; }
  /// The configuration with which the training ran. The file exists only if the program determined
  /// some of its values.
  [[nodiscard]] std::filesystem::path resolved() const { return root_ / "resolved.toml"; }
  [[nodiscard]] std::filesystem::path search() const { return root_ / "search.json"; }
  [[nodiscard]] std::filesystem::path environment() const { return root_ / "environment.json"; }
  [[nodiscard]] std::filesystem::path summary() const { return root_ / "summary.json"; }
  [[nodiscard]] std::filesystem::path metrics() const { return root_ / "metrics.jsonl"; }
  [[nodiscard]] std::filesystem::path episodes() const { return root_ / "episodes.csv"; }
  [[nodiscard]] std::filesystem::path evaluation() const { return root_ / "evaluation.json"; }
  [[nodiscard]] std::filesystem::path replay() const { return root_ / "replay"; }
  [[nodiscard]] std::filesystem::path lock() const { return root_ / "run.lock"; }
  [[nodiscard]] std::filesystem::path report() const { return root_ / "report.html"; }
  [[nodiscard]] std::filesystem::path logs() const { return root_ / "logs"; }
  [[nodiscard]] std::filesystem::path tensorboard() const { return root_ / "tensorboard"; }
  [[nodiscard]] std::filesystem::path profile() const { return root_ / "profile"; }
  [[nodiscard]] std::filesystem::path checkpoints() const { return root_ / "checkpoints"; }

 private:
  std::filesystem::path root_;
};

/// Facts about the program and the machine that the caller of write_environment() must supply.
struct Environment {
  std::string program;
  std::string version;
  std::string build_type;
  std::string compiler;
  std::vector<std::string> command_line;
  int world_size = 1;
  std::vector<std::pair<std::string, std::string>> libraries;  ///< name, version
  std::vector<std::string> gpus;                               ///< names of the models
};

/// Writes environment.json with these facts and with the host, operating system, CPU model, number
/// of CPUs, memory and time.
/// @throws ResourceError if the file cannot be written
void write_environment(const RunFolder& folder, const Environment& environment);

}  // namespace traffic::report
