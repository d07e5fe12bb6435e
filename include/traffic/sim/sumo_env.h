/// SumoEnv runs a SUMO simulation in this process. Callers read the traffic as a road state or as a
/// graph, and command vehicles and traffic lights.
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
/// libsumo allows only one simulation per process: a second SumoEnv while the first exists is an
/// error. Not thread-safe.
///
/// The same seed, options and commands give the same episode to the bit in processes that have
/// simulated the same episodes before. After other episodes SUMO may decide differently, because
/// some of its decisions depend on the order of its objects in memory. Evaluations therefore
/// simulate one episode per process.
///
/// SUMO writes only the files that its arguments (EnvOptions::sumo_args) name. It prints nothing to
/// stdout and opens no port, even if the scenario's own files ask for it.
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
  std::vector<std::string> sumo_args{};     ///< further arguments of SUMO
  bool emissions = false;                   ///< whether to measure emissions, which takes time; a
                                            ///< simulation that somebody else has started has none
  double demand_factor = 1;                 ///< multiplies the scenario's demand
  std::vector<std::string> cv_types{"cv"};  ///< types whose vehicles are connected
  double cv_share = 0;    ///< share of all vehicles that are connected, drawn by seed and name; 0
                          ///< means that cv_types says which vehicles are connected
  double max_time_s = 0;  ///< length of the episode; 0 means until the end of the scenario
  bool shield = true;  ///< level 2 of the shield (scene/shield.h) may replace commands by braking
  scene::ShieldLimits shield_limits{};
  scene::ControlLimits control_limits{};
  scene::SignalLimits signal_limits{};
};

/// Version of the libsumo that this program is linked with: "SUMO 1.28.0".
[[nodiscard]] std::string sumo_version();

/// A file in which SumoEnv::save() has stored traffic. SumoEnv::resume() continues from it.
struct SavedTraffic {
  std::filesystem::path file;
  double time_s = 0;  ///< time since the start of the saved episode
};

class Simulator;

class SumoEnv {
 public:
  enum class Start {
    kNow,    ///< the constructor loads the scenario and begins an episode with options.seed
    kLater,  ///< reset() or resume() must be called before anything else
  };

  /// @throws DataError with SUMO's own message if the scenario cannot be loaded
  explicit SumoEnv(const EnvOptions& options, Start start = Start::kNow);
  /// Takes part in a simulation that somebody else has started; made by join_simulation()
  /// (live.h). The episode begins with the present traffic and cannot be reset, resumed or saved.
  /// Its seed is that of the simulation, and it ends when the simulation does, whatever
  /// EnvOptions::max_time_s says. Observations still give the time as a share of that length.
  SumoEnv(const EnvOptions& options, std::unique_ptr<Simulator> running,
          const std::string& network_file);
  ~SumoEnv();
  SumoEnv(const SumoEnv&) = delete;
  SumoEnv& operator=(const SumoEnv&) = delete;

  /// Chooses the scenario of the next reset and of later ones. The present episode goes on.
  /// @throws DataError if there is no scenario of that name
  void set_scenario(std::string_view name_or_path);
  /// Multiplies the scenario's demand, its own --scale included, from the next reset on.
  void set_demand_factor(double factor);
  /// Begins a new episode.
  /// @param extra_args further arguments of SUMO for this episode
  void reset(std::uint64_t seed, const std::vector<std::string>& extra_args = {});
  /// Begins a new episode with saved traffic. The seed determines its random numbers, unless SUMO
  /// has saved its own (option --save-state.rng). In that case they also depend on the simulations
  /// that this process has run before, because SUMO counts its draws from the start of the process.
  ///
  /// Vehicles, routes, positions and lights are as they were saved. Features over past time
  /// (passages of the last 30 s, accelerations) are right once the simulation has run for that
  /// time. The counts of the score begin at 0, but vehicles on the road count as departed, with the
  /// share of their routes that they have covered. SUMO draws new random speeds for vehicles that
  /// enter later.
  /// @throws DataError with SUMO's own message if the file cannot be loaded
  void resume(const SavedTraffic& saved, std::uint64_t seed,
              const std::vector<std::string>& extra_args = {});
  /// Writes the present traffic to a file, without the commands in force.
  /// @param file ends in .xml or .xml.gz; it is replaced as a whole
  /// @throws WorkerError with SUMO's own message
  void save(const std::filesystem::path& file);
  /// Commands vehicles from the next step on. A vehicle is released in the step after its command
  /// ends.
  /// @throws Error for a vehicle that is not connected
  void apply(std::span<const scene::Command> commands);
  /// Makes traffic lights follow commands instead of their programs until the episode ends.
  void take_signals(scene::SignalMode mode = scene::SignalMode::kTakesOver);
  /// Commands lights from the next step on, after take_signals().
  /// @throws Error for a light that may not switch
  void apply(std::span<const scene::SignalCommand> commands);
  /// Sets the speed limit of all lanes of an edge from the next step on, until the next reset. SUMO
  /// counts as lost only the time beyond that of driving at the limit in force, so a lower limit by
  /// itself reduces the time lost in scores.
  /// @param edge index in Road::edges
  void set_speed_limit(int edge, double limit_mps);
  /// The lights and the vehicles before them, after take_signals(). Valid until the next step or
  /// reset.
  [[nodiscard]] const scene::SignalView& signals() const;
  /// Ends all commands: vehicles and lights return to their drivers and programs.
  void hand_back();
  /// Advances the simulation by one step.
  /// @throws DataError with SUMO's own message when the simulation fails
  void step();
  /// Whether the episode has reached its end; without an end, whether all vehicles have arrived.
  [[nodiscard]] bool done() const;

  /// The graph that a model observes now. Valid until the next step or reset.
  [[nodiscard]] const scene::GraphFrame& frame();
  [[nodiscard]] const scene::RoadState& state() const;
  /// Ids of the vehicles that SUMO put elsewhere in the last step: after a jam or a collision, or
  /// over a gap in their routes. They keep their ids.
  [[nodiscard]] std::span<const std::uint32_t> teleported() const;
  [[nodiscard]] const scene::Road& road() const;
  [[nodiscard]] const scene::EpisodeScore& score() const;
  [[nodiscard]] double time_s() const;
  [[nodiscard]] double step_length_s() const;
  [[nodiscard]] const std::filesystem::path& scenario() const;
  /// Seed of the episode.
  [[nodiscard]] std::uint64_t seed() const;
  /// Number of steps since construction, over all episodes.
  [[nodiscard]] std::int64_t steps() const;
  /// SUMO's name of a vehicle of this episode.
  [[nodiscard]] const std::string& name_of(std::uint32_t vehicle_id) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace traffic::sim
