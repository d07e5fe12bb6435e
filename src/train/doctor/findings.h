/// From facts about nodes and ranks to what is right and wrong with them.
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

/// What the work says it found, or how it failed.
Finding attempt(const std::string& subject, const std::function<std::string()>& work);

/// What one node has and what is to run on it.
struct NodeFacts {
  std::string host;
  int cpus = 0;
  int ranks = 0;
  std::int64_t simulations = 0;
  std::int64_t memory_bytes = 0;
};
/// Of main memory, about, with room to spare.
std::int64_t needed_bytes(const NodeFacts& node);
Finding judge_node(const NodeFacts& node);

/// Environment variables by their names, of one rank.
using Settings = std::map<std::string, std::string>;

/// @param entry "NAME=value"
void add_setting(const std::string& entry, Settings& settings);

/// The variables of this process that its libraries listen to.
Settings current_settings();

/// A finding for each variable that some rank has: ranks that differ may not reach each other.
/// Which GPUs a rank is shown may differ.
/// @param of_rank [ranks]
std::vector<Finding> judge_settings(const std::vector<Settings>& of_rank);

/// The programs and data files of a node, a line "name<tab>identity" each.
struct NodeInventory {
  std::string host;
  std::string text;
};
/// Fails where nodes do not have the same.
/// @param nodes at least one
Finding judge_inventories(const std::vector<NodeInventory>& nodes);

/// Collective. @return on rank 0 of a job on several nodes: whether they have the same files
std::optional<Finding> compare_nodes(comm::Communicator& communicator,
                                     const config::Config& config);

/// One finding for ranks that say the same, in the order of the first of them.
/// @param of_rank [ranks] findings on the same subject
std::vector<Finding> join_ranks(const std::vector<Finding>& of_rank);

}  // namespace traffic::train
