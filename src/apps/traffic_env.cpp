// The shared library libtraffic_env.so: a C interface to a pool of simulations with traffic lights.
#include "traffic/apps/traffic_env.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <exception>
#include <filesystem>
#include <functional>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "traffic/config/controller_spec.h"
#include "traffic/config/load.h"
#include "traffic/config/scenario_mix.h"
#include "traffic/core/error.h"
#include "traffic/rollout/traffic/traffic_pool.h"
#include "traffic/scene/signal_book.h"
#include "traffic/scene/signal_view.h"

namespace traffic {
namespace {

constexpr std::int32_t kMaxSimulations = 256;  ///< maximum of rollout.envs_per_worker
constexpr double kMaxDemandScale = 100.0;      ///< maximum of episodes.demand

/// Folder of this library, in which the programs of the simulations are, too.
std::filesystem::path folder_of_library() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&folder_of_library), &info) == 0) {
    throw Error("the dynamic loader does not know the path of libtraffic_env.so");
  }
  return std::filesystem::canonical(info.dli_fname).parent_path();
}

/// Reads the configuration of a pool and checks that the library supports it.
config::Config read_config(const char* file, std::span<const char* const> settings,
                           std::int32_t num_simulations) {
  config::Overrides overrides;
  for (const char* setting : settings) {
    overrides.assignments.push_back(config::parse_assignment(setting));
  }
  config::Config config = config::load_config(file == nullptr ? "" : file, overrides);
  if (config.env.agents != std::vector<std::string>{std::string(rollout::kLights)}) {
    throw ConfigError(
        "env.agents: found [\"{}\"], expected [\"lights\"], the only agent that libtraffic_env "
        "supports",
        fmt::join(config.env.agents, "\", \""));
  }
  if (const auto mix = config::scenario_mix(config.env); mix.size() != 1) {
    throw ConfigError(
        "env.scenarios: found {} scenarios, expected one, because the number of lights must be the "
        "same in all episodes; choose one with the setting env.scenario=NAME",
        mix.size());
  }
  if (num_simulations < 1 || num_simulations > kMaxSimulations) {
    throw ConfigError("found {} simulations, expected 1 to {}", num_simulations, kMaxSimulations);
  }
  config.rollout.workers = 1;
  config.rollout.envs_per_worker = num_simulations;
  config.rollout.max_concurrent_envs = 0;
  config.lights.encoder_layers = 0;  // the graph of all lights is not part of the observations
  return config;
}

/// The last answer of a simulation in the form in which the user of the library reads it.
struct Answer {
  std::vector<float> observations;  ///< [lights, max_options, features]
  std::vector<std::uint8_t> mask;   ///< [lights, max_options]
  std::vector<float> rewards;       ///< [lights]
  std::vector<scene::SignalCommand>
      choices;           ///< lights that may choose, with their present options
  bool running = false;  ///< whether an episode can be continued by a step
};

}  // namespace
}  // namespace traffic

/// A pool, and the layout of its answers.
struct traffic_env {
 public:
  traffic_env(const traffic::config::Config& config, const std::filesystem::path& programs);

  void fill(traffic_env_layout& layout) const;
  void reset(int simulation, std::uint64_t seed, double demand_scale);
  void step(int simulation, std::span<const std::int32_t> options);
  void wait(int simulation, traffic_env_answer& out);
  /// @throws ConfigError if there is no such simulation, or if this process has not opened the pool
  void require(int simulation) const;
  [[nodiscard]] std::size_t num_lights() const { return num_options_.size(); }
  [[nodiscard]] bool is_of_this_process() const { return owner_ == getpid(); }

 private:
  /// Waits for the answer to the last order and checks that it has the lights of the first answer.
  const traffic::rollout::Period& wait_for(int simulation);
  void learn_layout();
  void take_rows(std::span<const traffic::rollout::LightChoice> choices,
                 std::span<const float> rows, traffic::Answer& answer) const;

  pid_t owner_ = getpid();
  double control_period_s_;
  double max_time_s_;
  double reward_scale_;
  std::size_t least_options_;  ///< max_options_ is at least this
  traffic::rollout::TrafficPool pool_;
  std::vector<traffic::Answer> answers_;  ///< [simulations]
  std::size_t max_options_ = 0;
  std::vector<std::int32_t> num_options_;      ///< [lights]
  std::vector<std::string> ids_;               ///< [lights]
  std::vector<const char*> id_pointers_;       ///< [lights]
  std::vector<const char*> feature_pointers_;  ///< the names end with zeros
};

using traffic::ConfigError;
using traffic::WorkerError;

traffic_env::traffic_env(const traffic::config::Config& config,
                         const std::filesystem::path& programs)
    : control_period_s_(config.env.control_period_s),
      max_time_s_(config.env.max_time_s),
      reward_scale_(config.lights.reward_scale),
      least_options_(traffic::config::keeps_programs(config.lights.advisor) ? 2 : 1),
      pool_(std::make_unique<traffic::rollout::WorkerPool>(traffic::rollout::sumo_pool_spec(
          config,
          {.rollout_worker = programs / "rollout_worker", .environment = programs / "sumo_env"}))),
      answers_(static_cast<std::size_t>(config.rollout.envs_per_worker)) {
  for (const std::string_view name : traffic::scene::signal_features()) {
    feature_pointers_.push_back(name.data());
  }
  learn_layout();
}

void traffic_env::learn_layout() {
  reset(0, 1, 1.0);
  const auto& lights = wait_for(0).of<traffic::rollout::LightSection>();
  num_options_.assign(lights.cost_s.size(), 0);
  for (const auto choices : {lights.choices, lights.idle}) {
    for (const auto& choice : choices) {
      num_options_[static_cast<std::size_t>(choice.light)] = choice.num_greens;
    }
  }
  // A light that keeps its program may begin in a phase without options; it has two in others.
  if (least_options_ == 2) std::ranges::fill(num_options_, 2);
  for (std::string_view ids(lights.ids.data(), lights.ids.size()); !ids.empty();) {
    ids_.emplace_back(ids.substr(0, ids.find('\0')));
    ids.remove_prefix(std::min(ids.size(), ids_.back().size() + 1));
  }
  if (num_options_.empty() || std::ranges::max(num_options_) < 2) {
    throw traffic::DataError(
        "the network of env.scenario has {} traffic lights, and none with at least two greens; "
        "expected a network with lights to control",
        num_options_.size());
  }
  if (ids_.size() != num_options_.size()) {
    throw WorkerError("the simulation has {} lights, but names {}", num_options_.size(),
                      ids_.size());
  }
  max_options_ = static_cast<std::size_t>(std::ranges::max(num_options_));
  for (const std::string& id : ids_) id_pointers_.push_back(id.c_str());
}

void traffic_env::fill(traffic_env_layout& layout) const {
  layout = {.num_simulations = static_cast<std::int32_t>(answers_.size()),
            .num_lights = static_cast<std::int32_t>(num_options_.size()),
            .max_options = static_cast<std::int32_t>(max_options_),
            .num_features = static_cast<std::int32_t>(feature_pointers_.size()),
            .control_period_s = control_period_s_,
            .max_time_s = max_time_s_,
            .num_options = num_options_.data(),
            .lights = id_pointers_.data(),
            .features = feature_pointers_.data()};
}

void traffic_env::require(int simulation) const {
  if (!is_of_this_process()) {
    throw ConfigError(
        "process {} has opened the simulations, and process {} cannot use them: open them in the "
        "process that uses them",
        owner_, getpid());
  }
  if (simulation < 0 || static_cast<std::size_t>(simulation) >= answers_.size()) {
    throw ConfigError("found simulation {}, expected 0 to {}", simulation, answers_.size() - 1);
  }
}

void traffic_env::reset(int simulation, std::uint64_t seed, double demand_scale) {
  if (!(demand_scale > 0.0 && demand_scale <= traffic::kMaxDemandScale)) {
    throw ConfigError("found a factor of the demand of {}, expected one above 0 and up to {}",
                      demand_scale, traffic::kMaxDemandScale);
  }
  if (pool_.busy(simulation)) (void)pool_.wait_any({&simulation, 1});
  pool_.start_episode(
      simulation, {.traffic = {.seed = seed, .demand_scale = demand_scale}, .idle_lights = true});
  answers_[static_cast<std::size_t>(simulation)].running = true;
}

void traffic_env::step(int simulation, std::span<const std::int32_t> options) {
  traffic::Answer& answer = answers_[static_cast<std::size_t>(simulation)];
  if (pool_.busy(simulation) || !answer.running) {
    throw ConfigError("simulation {} has {}: {} before the next step", simulation,
                      pool_.busy(simulation) ? "an order already" : "no running episode",
                      pool_.busy(simulation) ? "wait for its answer" : "reset it");
  }
  for (std::size_t light = 0; light < options.size(); ++light) {
    if (options[light] < 0 || static_cast<std::size_t>(options[light]) >= max_options_) {
      throw ConfigError("found option {} for light {}, expected 0 to {}", options[light],
                        ids_[light], max_options_ - 1);
    }
  }
  for (traffic::scene::SignalCommand& choice : answer.choices) {
    const auto light = static_cast<std::size_t>(choice.light);
    if (options[light] < num_options_[light]) choice.green = options[light];
  }
  traffic::rollout::Orders orders;
  orders.add<traffic::scene::SignalCommand>(traffic::rollout::kLights, answer.choices);
  pool_.act(simulation, orders);
}

const traffic::rollout::Period& traffic_env::wait_for(int simulation) {
  traffic::Answer& answer = answers_[static_cast<std::size_t>(simulation)];
  if (!pool_.busy(simulation)) {
    throw ConfigError("simulation {} has no order to wait for: reset or step it first", simulation);
  }
  answer.running = false;
  const auto event = pool_.wait_any({&simulation, 1});
  if (event->lost) throw WorkerError("the episode is lost: {}", event->why);
  const traffic::rollout::Period& period = pool_.period(simulation);
  answer.running = !period.done();
  return period;
}

void traffic_env::take_rows(std::span<const traffic::rollout::LightChoice> choices,
                            std::span<const float> rows, traffic::Answer& answer) const {
  const std::size_t columns = feature_pointers_.size();
  for (const auto& choice : choices) {
    const auto light = static_cast<std::size_t>(choice.light);
    if (choice.num_greens != num_options_[light]) {
      throw WorkerError("light {} has {} options, but had {} in the first episode", ids_[light],
                        choice.num_greens, num_options_[light]);
    }
    const std::size_t size = static_cast<std::size_t>(choice.num_greens) * columns;
    std::ranges::copy(
        rows.first(size),
        answer.observations.begin() + static_cast<std::ptrdiff_t>(light * max_options_ * columns));
    rows = rows.subspan(size);
    answer.mask[light * max_options_] = 0;
    answer.mask[light * max_options_ + static_cast<std::size_t>(std::max(choice.present, 0))] = 1;
  }
}

void traffic_env::wait(int simulation, traffic_env_answer& out) {
  const traffic::rollout::Period& period = wait_for(simulation);
  const auto& lights = period.of<traffic::rollout::LightSection>();
  traffic::Answer& answer = answers_[static_cast<std::size_t>(simulation)];
  const std::size_t options = num_options_.size() * max_options_;
  if (lights.cost_s.size() != num_options_.size()) {
    throw WorkerError("the simulation has {} lights, but had {} in the first episode",
                      lights.cost_s.size(), num_options_.size());
  }
  answer.observations.assign(options * feature_pointers_.size(), 0.0F);
  answer.mask.assign(options, 0);
  // The mask of a light without options allows the first one, because a learner needs a valid
  // action.
  for (std::size_t light = 0; light < num_options_.size(); ++light) {
    answer.mask[light * max_options_] = 1;
  }
  take_rows(lights.idle, lights.idle_rows, answer);
  take_rows(lights.choices, lights.rows, answer);
  answer.choices.clear();
  for (const auto& choice : lights.choices) {
    answer.choices.push_back({.light = choice.light, .green = choice.present});
    std::fill_n(answer.mask.begin() + static_cast<std::ptrdiff_t>(
                                          static_cast<std::size_t>(choice.light) * max_options_),
                choice.num_greens, std::uint8_t{1});
  }
  answer.rewards.resize(num_options_.size());
  std::ranges::transform(lights.cost_s, answer.rewards.begin(), [this](double lost_s) {
    return -static_cast<float>(reward_scale_ * lost_s);
  });
  out = {.time_s = period.time_s,
         .terminated = period.terminated,
         .truncated = period.truncated,
         .observations = answer.observations.data(),
         .mask = answer.mask.data(),
         .rewards = answer.rewards.data(),
         .lost_s = period.score.lost_s(),
         .delay_s = period.score.delay_s(),
         .arrived = period.score.arrived};
}

namespace traffic {
namespace {

thread_local std::string last_error;

/// Runs `call`. @return 0, or the exit code of its exception, whose message traffic_env_error()
/// then returns
int guarded(const std::function<void()>& call) noexcept {
  try {
    try {
      call();
      return 0;
    } catch (const Error& error) {
      last_error = error.what();
      return static_cast<int>(error.code());
    } catch (const std::bad_alloc&) {
      last_error = "there is not enough memory";
      return static_cast<int>(ExitCode::kResources);
    } catch (const std::exception& error) {
      last_error = error.what();
      return static_cast<int>(ExitCode::kInternal);
    }
  } catch (...) {  // not even the message could be stored
    last_error.clear();
    return static_cast<int>(ExitCode::kInternal);
  }
}

template <typename T>
T& given(T* pointer, std::string_view name) {
  if (pointer == nullptr) throw ConfigError("argument {} is a null pointer", name);
  return *pointer;
}

}  // namespace
}  // namespace traffic

using traffic::given;
using traffic::guarded;

#define TRAFFIC_ENV_EXPORT extern "C" __attribute__((visibility("default")))

TRAFFIC_ENV_EXPORT int32_t traffic_env_interface(void) { return TRAFFIC_ENV_INTERFACE; }

TRAFFIC_ENV_EXPORT const char* traffic_env_error(void) { return traffic::last_error.c_str(); }

TRAFFIC_ENV_EXPORT int traffic_env_open(const char* config_file, const char* const* settings,
                                        int32_t num_settings, int32_t num_simulations,
                                        traffic_env** env) {
  return guarded([&] {
    given(env, "env") = nullptr;
    if (num_settings < 0) throw ConfigError("found {} settings, expected 0 or more", num_settings);
    if (num_settings > 0) given(settings, "settings");
    const std::span all(settings, static_cast<std::size_t>(num_settings));
    for (const char* setting : all) given(setting, "settings");
    const auto config = traffic::read_config(config_file, all, num_simulations);
    *env = new traffic_env(config, traffic::folder_of_library());
  });
}

TRAFFIC_ENV_EXPORT int traffic_env_layout_of(const traffic_env* env, traffic_env_layout* layout) {
  return guarded([&] { given(env, "env").fill(given(layout, "layout")); });
}

TRAFFIC_ENV_EXPORT int traffic_env_reset(traffic_env* env, int32_t simulation, uint64_t seed,
                                         double demand_scale) {
  return guarded([&] {
    given(env, "env").require(simulation);
    env->reset(simulation, seed, demand_scale);
  });
}

TRAFFIC_ENV_EXPORT int traffic_env_step(traffic_env* env, int32_t simulation,
                                        const int32_t* options) {
  return guarded([&] {
    given(env, "env").require(simulation);
    env->step(simulation, {&given(options, "options"), env->num_lights()});
  });
}

TRAFFIC_ENV_EXPORT int traffic_env_wait(traffic_env* env, int32_t simulation,
                                        traffic_env_answer* answer) {
  return guarded([&] {
    given(env, "env").require(simulation);
    env->wait(simulation, given(answer, "answer"));
  });
}

TRAFFIC_ENV_EXPORT void traffic_env_close(traffic_env* env) {
  if (env == nullptr || !env->is_of_this_process()) return;
  guarded([&] { delete env; });
}
