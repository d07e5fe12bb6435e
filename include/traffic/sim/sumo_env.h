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
/// A process holds at most one SumoEnv, since libsumo supports one simulation per process. Not
/// thread-safe.
///
/// The same seed, options and commands give the same episode to the bit in processes with the same
/// history of simulations. SUMO sometimes decides by the order of objects in memory, which depends
/// on earlier simulations. Measurements that have to repeat run one episode per process.
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
  std::uint64_t seed = 42;                  ///< seed of the first episode
  std::vector<std::string> sumo_args{};     ///< further arguments of SUMO, e.g. {"--scale", "1.1"}
  std::vector<std::string> cv_types{"cv"};  ///< vTypes of connected vehicles
  double cv_share = 0;    ///< above 0: share of all vehicles instead, drawn by seed and name
  double max_time_s = 0;  ///< end of the episode; 0: end of the scenario
  bool shield = true;     ///< level 2 may replace commands by braking
  scene::ShieldLimits shield_limits{};
  scene::ControlLimits control_limits{};
  scene::SignalLimits signal_limits{};
};

/// Version of the linked library, such as "SUMO 1.28.0".
[[nodiscard]] std::string sumo_version();

/// Traffic that SumoEnv::save() wrote, from which an episode may continue.
struct SavedTraffic {
  std::filesystem::path file;
  double time_s = 0;  ///< since the start of the episode in which it was saved
};

class SumoEnv {
 public:
  enum class Start {
    kNow,    ///< the constructor loads the scenario and begins an episode with options.seed
    kLater,  ///< reset() or resume() begins the first episode; call one of them first
  };

  /// @throws DataError with SUMO's own message if the scenario cannot be loaded
  explicit SumoEnv(const EnvOptions& options, Start start = Start::kNow);
  ~SumoEnv();
  SumoEnv(const SumoEnv&) = delete;
  SumoEnv& operator=(const SumoEnv&) = delete;

  /// Sets the scenario from the next reset on.
  /// @throws DataError for an unknown name
  void set_scenario(std::string_view name_or_path);
  /// Begins a new episode.
  /// @param extra_args SUMO's arguments for this episode, after options.sumo_args
  void reset(std::uint64_t seed, const std::vector<std::string>& extra_args = {});
  /// Begins a new episode from saved traffic. Random numbers follow from the seed, unless the
  /// options make SUMO save its own state of them (--save-state.rng).
  ///
  /// Vehicles, their routes and progress, and lights are as they were. Values that look back
  /// (passages of the last 30 s, accelerations) become right with time. Counts and losses begin at
  /// 0, but vehicles on the road count as departed, with the progress that they have made. SUMO
  /// draws the speeds of vehicles that enter later anew.
  /// @throws DataError with SUMO's own message if the file cannot be loaded
  void resume(const SavedTraffic& saved, std::uint64_t seed,
              const std::vector<std::string>& extra_args = {});
  /// Saves the present traffic, without the commands in force.
  /// @param file ends in .xml or .xml.gz; replaced as a whole
  /// @throws WorkerError with SUMO's own message
  void save(const std::filesystem::path& file);
  /// Commands vehicles from the next step on. Vehicles are released in the step after their command
  /// ends.
  /// @throws Error for a vehicle that is no CV
  void apply(std::span<const scene::Command> commands);
  /// Makes traffic lights follow commands instead of their programs until the episode ends.
  void take_signals();
  /// Commands lights from the next step on. Requires take_signals().
  /// @throws Error for a light that may not switch
  void apply(std::span<const scene::SignalCommand> commands);
  /// Traffic before the lights, valid until the next step or reset. Requires take_signals().
  [[nodiscard]] const scene::SignalView& signals() const;
  /// Advances the simulation by one step.
  /// @throws WorkerError with SUMO's own message when the simulation fails
  void step();
  /// Whether the episode has reached its end. An episode without an end is done when no vehicle is
  /// left or still to depart.
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
