/// Turns facts about nodes and ranks into findings, the results of the checks of traffic_doctor.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "traffic/comm/communicator.h"
#include "traffic/train/doctor/doctor.h"

namespace traffic::train {

/// Runs `work` and turns the text that it returns, or the error that it throws, into a finding.
Finding attempt(const std::string& subject, const std::function<std::string()>& work);

/// Resources of one node and its load in the planned run.
struct NodeFacts {
  std::string host;
  int cpus = 0;                   ///< CPUs that the ranks may use
  int ranks = 0;                  ///< ranks on this node
  std::int64_t simulations = 0;   ///< simulations on this node
  std::int64_t memory_bytes = 0;  ///< main memory
};

/// Estimated main memory of the ranks and simulations on a node, with a margin.
std::int64_t needed_bytes(const NodeFacts& node);
/// Warns if the node has too few CPUs for its ranks, or too little memory.
Finding judge_node(const NodeFacts& node);

/// Environment variables of one rank, by name.
using Settings = std::map<std::string, std::string>;

/// Adds a variable to the settings.
/// @param entry "NAME=value"
void add_setting(const std::string& entry, Settings& settings);

/// The environment variables of this process that influence this program and its libraries.
Settings current_settings();

/// One finding for each variable that is set on at least one rank. The finding is a warning if
/// ranks have different values, because such ranks may fail to connect. Only CUDA_VISIBLE_DEVICES
/// may differ.
/// @param of_rank [ranks]
std::vector<Finding> judge_settings(const std::vector<Settings>& of_rank);

/// The programs and data files of a node, one line "name<tab>identity" each.
struct NodeInventory {
  std::string host;
  std::string text;
};
/// Compares the nodes. It is a failure if they have different programs or data files.
/// @param nodes at least one
Finding judge_inventories(const std::vector<NodeInventory>& nodes);

/// Collective. Compares the programs and data files of all nodes.
/// @return the finding on rank 0 of a job on several nodes; otherwise nothing
std::optional<Finding> compare_nodes(comm::Communicator& communicator,
                                     const config::Config& config);

/// Merges equal findings of several ranks into one, which names these ranks. The result is in the
/// order of the first rank of each finding.
/// @param of_rank [ranks] the finding of each rank on the same subject
std::vector<Finding> join_ranks(const std::vector<Finding>& of_rank);

}  // namespace traffic::train
