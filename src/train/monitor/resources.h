/// Reads how much memory the ranks, rollout workers and simulations of a run use, and how busy the
/// GPUs are. Adds these readings up over all ranks.
#pragma once

#include <c10/core/Device.h>

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "monitor/nvml.h"
#include "traffic/core/clock.h"
#include "traffic/core/process_family.h"
#include "traffic/report/metrics.h"

namespace traffic::train {

/// Memory of the processes of a node in bytes; pages shared by several processes count once.
struct NodeMemory {
  double ranks = 0.0;
  double workers = 0.0;
  double simulations = 0.0;
  [[nodiscard]] double total() const { return ranks + workers + simulations; }
};
/// Adds up the memory of a process and its descendants. It tells ranks, workers and simulations
/// apart by the names of their programs.
NodeMemory add_up(const std::vector<ProcessFacts>& family, std::int64_t (*bytes_of)(int pid));

/// The resources of one rank. numbers() turns them into numbers that ranks can exchange.
struct Reading {
  NodeMemory node = {};  ///< set only by the first rank of each node, zero on other ranks
  double gpu_allocated = 0.0;
  double gpu_reserved = 0.0;
  double gpu_peak = 0.0;
  double gpu_busy = 0.0;  ///< share of the time in which the GPU computes; negative if unknown

  static constexpr std::size_t kNumbers = 7;
  [[nodiscard]] std::array<double, kNumbers> numbers() const;
  static Reading from(std::span<const double, kNumbers> numbers);
};

/// Reads the resources of one rank.
class ResourceReader {
 public:
  /// @param first_of_node whether this rank also reads the memory of all processes of its node
  ResourceReader(at::Device device, bool first_of_node);
  /// Reads the resources, at most once every few seconds, because a reading of all processes takes
  /// time. A call that comes sooner returns the last reading.
  Reading read();

 private:
  at::Device device_;
  bool first_of_node_;
  std::string pci_bus_id_;
  std::optional<Nvml> nvml_;
  Reading last_;
  double next_read_s_ = 0.0;
};

/// Adds up the readings of all ranks and compares memory with its limit. All ranks must pass the
/// same readings, so that they get the same results.
class ResourceWatch {
 public:
  /// @param target_bytes limit on the memory of a node; 0 means node_bytes
  /// @param node_bytes memory of this rank's node
  ResourceWatch(double target_bytes, double node_bytes)
      : target_bytes_(target_bytes > 0.0 ? target_bytes : node_bytes),
        names_target_(target_bytes > 0.0) {}

  /// Actions to take after a reading. look() returns a warning once, and again only if its cause
  /// ceased in between.
  struct Actions {
    bool release = false;  ///< release idle memory
    std::optional<std::string> warning;
  };
  /// Adds up the readings of all ranks.
  Actions look(const std::vector<Reading>& of_ranks);

  /// Metrics of the last reading: memory summed over all nodes, GPU memory as the maximum over
  /// GPUs, GPU load as the mean.
  [[nodiscard]] report::NamedValues figures() const;
  /// The metrics for the progress bar.
  [[nodiscard]] report::NamedValues shown() const;
  /// Maximum memory that the run has used on any node so far.
  [[nodiscard]] double peak_bytes() const { return peak_bytes_; }

 private:
  double target_bytes_;
  bool names_target_;
  NodeMemory all_;  ///< summed over all nodes
  Reading gpus_;
  bool has_gpus_ = false;
  double peak_bytes_ = 0.0;
  bool said_ = false;
};

}  // namespace traffic::train
