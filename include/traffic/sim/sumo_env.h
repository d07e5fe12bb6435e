/// One SUMO simulation in this process, seen as a road state and as graphs.
///
///     #include "traffic/scene/controller.h"
///
///     double ocr_of_episode(scene::Controller& controller, std::uint64_t seed) {
///       SumoEnv env({.scenario = "merge"});
///       std::vector<scene::Command> commands;
///       for (env.reset(seed); !env.done(); env.step()) {
///         commands.clear();
///         controller.decide(env.state(), commands);
///         env.apply(commands);
///       }
///       return env.score().ocr_all();
///     }
///
/// libsumo is one simulation a process: a second SumoEnv while one lives is an error. Not
/// thread-safe. The same seed, options and commands give the same episode to the bit in processes
/// that have simulated the same before; after something else, SUMO may decide otherwise where the
/// order of its objects in memory decides, so those whose figures count simulate one episode a
/// process.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "traffic/scene/action.h"
#include "traffic/scene/frame.h"
#include "traffic/scene/road_state.h"
#include "traffic/scene/shield.h"
#include "traffic/scene/signal_view.h"

namespace traffic::sim {

struct EnvOptions {
  std::string scenario{};                   ///< a .sumocfg or the name of a shipped scenario
  std::uint64_t seed = 42;                  ///< of the first episode
  std::vector<std::string> sumo_args{};     ///< further arguments of SUMO, e.g. {"--scale", "1.1"}
  std::vector<std::string> cv_types{"cv"};  ///< vTypes of connected vehicles
  double cv_share = 0;    ///< above 0: this share of all vehicles instead, drawn by seed and name
  double max_time_s = 0;  ///< end of the episode; 0: that of the scenario
  bool shield = true;     ///< level 2 may replace commands by braking
  scene::ShieldLimits shield_limits{};
  scene::ControlLimits control_limits{};
  scene::SignalLimits signal_limits{};
};

/// "SUMO 1.28.0", of the library that this program is linked with.
[[nodiscard]] std::string sumo_version();

/// Traffic that SumoEnv::save() has kept, to go on from.
struct SavedTraffic {
  std::filesystem::path file;
  double time_s = 0;  ///< since the start of the episode that it is of
};

class SumoEnv {
 public:
  enum class Start {
    kNow,    ///< the constructor loads the scenario and begins an episode with options.seed
    kLater,  ///< reset() or resume() begins the first one; nothing else may be called before
  };

  /// @throws DataError with SUMO's own message if the scenario cannot be loaded
  explicit SumoEnv(const EnvOptions& options, Start start = Start::kNow);
  ~SumoEnv();
  SumoEnv(const SumoEnv&) = delete;
  SumoEnv& operator=(const SumoEnv&) = delete;

  /// The scenario of the next reset and of those after it; what is loaded now stays till then.
  /// @throws DataError if there is none of that name
  void set_scenario(std::string_view name_or_path);
  /// Begins a new episode.
  /// @param extra_args for this episode, after options.sumo_args, e.g. another demand
  void reset(std::uint64_t seed, const std::vector<std::string>& extra_args = {});
  /// Begins a new episode in the middle of one that was saved. Random numbers
  /// from then on are those of the seed, unless the options have SUMO save its
  /// own (--save-state.rng).
  ///
  /// Vehicles, their routes and how far they have come, and lights are as they
  /// were. What looks back (passages of the last 30 s, accelerations) is right
  /// once the simulation has run for that long; counts begin at 0, but vehicles
  /// on the road count as departed, with the share of their routes that they
  /// have covered. SUMO draws the speeds of vehicles that enter later anew.
  /// @throws DataError with SUMO's own message if the file cannot be loaded
  void resume(const SavedTraffic& saved, std::uint64_t seed,
              const std::vector<std::string>& extra_args = {});
  /// Keeps the traffic as it is now; commands in force are not part of it.
  /// @param file ends in .xml or .xml.gz; replaced as a whole
  /// @throws WorkerError with SUMO's own message
  void save(const std::filesystem::path& file);
  /// Commands from the next step on. Vehicles whose command ends are released in the step after it.
  /// @throws Error for a vehicle that is no CV
  void apply(std::span<const scene::Command> commands);
  /// From now on until the episode ends, traffic lights follow commands instead of their programs.
  void take_signals();
  /// Commands for lights from the next step on, after take_signals().
  /// @throws Error for a light that may not switch
  void apply(std::span<const scene::SignalCommand> commands);
  /// What stands before the lights; after take_signals(), valid as frame().
  [[nodiscard]] const scene::SignalView& signals() const;
  /// Advances the simulation by one step.
  /// @throws WorkerError with SUMO's own message when the simulation fails
  void step();
  /// Whether the episode has reached its end (or no vehicle is left or to come, when it has none).
  [[nodiscard]] bool done() const;

  /// Valid until the next step or reset.
  [[nodiscard]] const scene::GraphFrame& frame();
  [[nodiscard]] const scene::RoadState& state() const;
  [[nodiscard]] const scene::Road& road() const;
  [[nodiscard]] const scene::EpisodeScore& score() const;
  [[nodiscard]] double time_s() const;
  [[nodiscard]] double step_length_s() const;
  [[nodiscard]] const std::filesystem::path& scenario() const;
  /// Number of SUMO steps taken since construction.
  [[nodiscard]] std::int64_t steps() const;
  /// SUMO's name of a vehicle of this episode.
  [[nodiscard]] const std::string& name_of(std::uint32_t vehicle_id) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace traffic::sim
