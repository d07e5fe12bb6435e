/// Memory and GPUs of a run while it goes on: of ranks, workers and simulations together.
#pragma once

#include <c10/core/Device.h>

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "run/nvml.h"
#include "traffic/core/clock.h"
#include "traffic/core/process_family.h"
#include "traffic/report/metrics.h"

namespace traffic::train {

/// What processes of a node take, in bytes: pages that several share are counted once.
struct NodeMemory {
  double ranks = 0.0;
  double workers = 0.0;
  double simulations = 0.0;
  [[nodiscard]] double total() const { return ranks + workers + simulations; }
};
/// By the names of the programs.
NodeMemory add_up(const std::vector<ProcessFacts>& family, std::int64_t (*bytes_of)(int pid));

/// What a rank reads, as numbers that an all_reduce can carry.
struct Reading {
  NodeMemory node = {};  ///< of the first rank of each node; nothing on others
  double gpu_allocated = 0.0;
  double gpu_reserved = 0.0;
  double gpu_peak = 0.0;
  double gpu_busy = 0.0;  ///< share of the time; below 0: not known

  static constexpr std::size_t kNumbers = 7;
  [[nodiscard]] std::array<double, kNumbers> numbers() const;
  static Reading from(std::span<const double, kNumbers> numbers);
};

/// Of one rank.
class ResourceReader {
 public:
  /// @param first_of_node this rank reads for its node
  ResourceReader(at::Device device, bool first_of_node);
  /// What was read last, or anew if that is some seconds ago: looking at all processes is to take
  /// no noticeable part of the time.
  Reading read();

 private:
  at::Device device_;
  bool first_of_node_;
  std::string pci_bus_id_;
  std::optional<Nvml> nvml_;
  Reading last_;
  double next_read_s_ = 0.0;
};

/// Of all ranks together, fed on every rank with the same numbers.
class ResourceWatch {
 public:
  /// @param target_bytes that a node is to stay within; 0: node_bytes
  /// @param node_bytes that the node of this rank has
  ResourceWatch(double target_bytes, double node_bytes)
      : target_bytes_(target_bytes > 0.0 ? target_bytes : node_bytes),
        names_target_(target_bytes > 0.0) {}

  /// What there is to do, and to say: once, and again only after it had ceased.
  struct Actions {
    bool release = false;  ///< idle memory is to be given back
    std::optional<std::string> warning;
  };
  Actions look(const std::vector<Reading>& of_ranks);

  /// Of the last look. Memory of all nodes, the largest of the GPUs, the mean of their work.
  [[nodiscard]] report::NamedValues figures() const;
  /// Of these, what the progress line shows.
  [[nodiscard]] report::NamedValues shown() const;
  /// Of the fullest node so far.
  [[nodiscard]] double peak_bytes() const { return peak_bytes_; }

 private:
  double target_bytes_;
  bool names_target_;
  NodeMemory all_;  ///< of all nodes
  Reading gpus_;
  bool has_gpus_ = false;
  double peak_bytes_ = 0.0;
  bool said_ = false;
};

}  // namespace traffic::train
