/// Defines how a trained controller decides (greedily or by sampling), how a checkpoint stores
/// this, and how command-line options name a trained controller.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "traffic/checkpoint/snapshot.h"

namespace traffic::train {

enum class Decides : std::uint8_t {
  kGreedy,   ///< takes the most probable command
  kSampled,  ///< draws a command according to the probabilities
};

/// "greedy" or "sampled".
std::string_view to_string(Decides decides);
/// The inverse of to_string(); nothing for any other text.
std::optional<Decides> decides_of(std::string_view text);

/// Seed of the sampled decisions in an episode. Evaluations in a training and in traffic_eval draw
/// the same numbers for the same traffic.
std::uint64_t decision_seed(std::uint64_t traffic_seed);

/// Stores the setting as "decides".
void put_decides(checkpoint::Snapshot& snapshot, Decides decides);
/// Reads "decides"; kGreedy for older checkpoints, which do not have this entry.
/// @throws CheckpointError if the entry is neither "greedy" nor "sampled"
Decides decides_in(const checkpoint::Snapshot& snapshot);

/// Stores the advice margin (Policy::lean_on_advice) as "advice_margin".
void put_advice_margin(checkpoint::Snapshot& snapshot, double margin);
/// Reads "advice_margin"; 0 if the checkpoint does not have this entry.
double advice_margin_in(const checkpoint::Snapshot& snapshot);

/// A trained controller as options name it: "checkpoint:PATH", optionally followed by ",greedy" or
/// ",sampled".
struct CheckpointName {
  std::filesystem::path path;
  std::optional<Decides> decides{};  ///< if not set, the checkpoint's entry "decides" applies
};
/// Parses the name of a controller; nothing if it does not begin with "checkpoint:".
std::optional<CheckpointName> checkpoint_name(std::string_view controller);

}  // namespace traffic::train
