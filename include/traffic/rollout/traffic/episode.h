/// EpisodeSpec, the order of a rank to a simulation to run an episode: its traffic, its controller
/// and the data that the rank needs.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace traffic::rollout {

/// The traffic of an episode. The seed determines everything random in it, whichever simulation
/// process runs the episode.
///
/// A long scenario may be divided into pieces of PieceStore::piece_s seconds, each of which can be
/// an episode. Piece 0 begins with empty roads. Every later piece begins in traffic that an earlier
/// uncontrolled episode has saved to disk.
struct EpisodeSeed {
  std::uint64_t seed = 0;
  std::int64_t scenario = 0;  ///< index into config::scenario_mix
  double demand_scale = 1.0;  ///< factor on the scenario's demand
  /// Index of the piece of the scenario. Piece k begins at k * PieceStore::piece_s seconds.
  std::int64_t piece = 0;
  std::uint64_t saved_seed = 0;  ///< seed of the uncontrolled episode that saved the traffic
};

/// The folder in which an uncontrolled episode saves its traffic shortly before every piece begins,
/// and the length of the pieces.
struct PieceStore {
  double piece_s = 0;     ///< length of a piece; 0 means that an episode runs the whole scenario
  std::uint64_t key = 0;  ///< name of the folder; it differs between scenarios and demands
  bool saves = false;     ///< whether the episode runs the whole scenario and saves its traffic
};

/// Path of the folder of a PieceStore. @param cache value of episodes.baseline_cache
std::filesystem::path piece_folder(const std::string& cache, std::uint64_t key);

/// How the cost of a light, in seconds of lost time, follows from the traffic before it: the sum of
/// its quantities times these factors.
struct LightCost {
  double delay = 1.0;               ///< factor on the time lost
  double co2_s_per_g = 0.0;         ///< factor on CO2
  double electricity_s_per_wh = 0;  ///< factor on electric energy
  double distance_s_per_m = 0.0;    ///< factor on the distance driven; negative, since emissions
                                    ///< count per kilometre
};

/// An episode to run.
struct EpisodeSpec {
  EpisodeSeed traffic{};
  /// Name of a scripted controller that decides within the simulation. If it is empty, the rank
  /// decides when `observed` is true, and the episode runs without control when `observed` is
  /// false.
  std::string controller = {};
  bool advises =
      false;  ///< the scripted controller only reports what it would do; the rank decides
  /// Whether the simulation sends the observations of the agents. If not, it sends scores only,
  /// which costs less.
  bool observed = true;
  /// Whether the simulation also describes the lights that may not switch now (LightSection::idle).
  /// Trainings do without, because their policies decide only for lights that may switch.
  bool idle_lights = false;
  PieceStore store{};
  LightCost light_cost{};
};

}  // namespace traffic::rollout
