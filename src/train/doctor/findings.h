/// Turns facts about nodes and ranks into findings.
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
Finding judge_node(const NodeFacts& node);

/// Environment variables of one rank, by name.
using Settings = std::map<std::string, std::string>;

/// @param entry "NAME=value"
void add_setting(const std::string& entry, Settings& settings);

/// The variables of this process that its libraries read.
Settings current_settings();

/// One finding for each variable that is set on some rank. Ranks with different values may not
/// reach each other; only the visible GPUs may differ.
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

/// Collective. @return on rank 0 of a job on several nodes: whether the nodes have the same files;
///   otherwise nothing
std::optional<Finding> compare_nodes(comm::Communicator& communicator,
                                     const config::Config& config);

/// Merges equal findings of several ranks into one, in the order of their first rank.
/// @param of_rank [ranks] findings on the same subject
std::vector<Finding> join_ranks(const std::vector<Finding>& of_rank);

}  // namespace traffic::train
