/// The description of an episode that a rank asks a simulation to run.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace traffic::rollout {

/// The traffic of an episode. Everything random in it follows from the seed; which simulation runs
/// the episode makes no difference.
struct EpisodeSeed {
  std::uint64_t seed = 0;
  std::int64_t scenario = 0;  ///< index into config::scenario_mix
  double demand_scale = 1.0;  ///< factor on the scenario's demand
  /// Index of the piece of the scenario. Piece k begins at k * PieceStore::piece_s seconds. Pieces
  /// after the first begin in traffic that the uncontrolled episode `saved_seed` left on disk.
  std::int64_t piece = 0;
  std::uint64_t saved_seed = 0;
};

/// The folder in which uncontrolled episodes save their traffic, and how long the pieces are that
/// begin in this traffic.
struct PieceStore {
  double piece_s = 0;     ///< length of a piece; 0: episodes run the whole scenario
  std::uint64_t key = 0;  ///< name of the folder; it differs between scenarios and demands
  bool saves = false;     ///< the episode runs the whole scenario and saves its traffic
};

/// Folder of a piece store. @param cache episodes.baseline_cache
std::filesystem::path piece_folder(const std::string& cache, std::uint64_t key);

/// An episode to run.
struct EpisodeSpec {
  EpisodeSeed traffic{};
  /// A scripted controller that decides within the simulation. If it is empty, the rank decides in
  /// an observed episode, and any other episode has no control.
  std::string controller = {};
  bool advises =
      false;  ///< the scripted controller only reports what it would do; the rank decides
  /// The rank needs the observations of the agents. Without them an episode yields scores only,
  /// which costs less.
  bool observed = true;
  PieceStore store{};
};

}  // namespace traffic::rollout
