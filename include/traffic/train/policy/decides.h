/// How a controller decides where it is evaluated and used, and how a trained one is named there.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "traffic/checkpoint/snapshot.h"

namespace traffic::train {

enum class Decides : std::uint8_t {
  kGreedy,   ///< the most probable command
  kSampled,  ///< one that is drawn by the probabilities
};

/// "greedy", "sampled".
std::string_view to_string(Decides decides);
/// Nothing for any other text.
std::optional<Decides> decides_of(std::string_view text);

/// Random numbers of an episode's sampled decisions: the same traffic, the same draws, in
/// training's evaluations as in traffic_eval.
std::uint64_t decision_seed(std::uint64_t traffic_seed);

/// As "decides".
void put_decides(checkpoint::Snapshot& snapshot, Decides decides);
/// Of checkpoints without it, which are older: greedy.
/// @throws CheckpointError if it is neither
Decides decides_in(const checkpoint::Snapshot& snapshot);

/// What any other command has to be worth more than the advised one (Policy::lean_on_advice), as
/// "advice_margin".
void put_advice_margin(checkpoint::Snapshot& snapshot, double margin);
/// 0 where there is none.
double advice_margin_in(const checkpoint::Snapshot& snapshot);

/// "checkpoint:PATH", with ",greedy" or ",sampled" behind it to decide otherwise than the
/// checkpoint says.
struct CheckpointName {
  std::filesystem::path path;
  std::optional<Decides> decides{};
};
/// Nothing for a controller of another kind.
std::optional<CheckpointName> checkpoint_name(std::string_view controller);

}  // namespace traffic::train
