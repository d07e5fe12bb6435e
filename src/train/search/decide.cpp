#include "search/decide.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "traffic/config/controller_spec.h"

namespace traffic::train {
namespace {

/// Settings of a training that suit a script (docs/reference/controllers.md, "The search"). Each
/// member is the value for the configuration key of the same or a similar name.
struct Suitable {
  std::vector<std::string> commands{"none"};
  double zone_m = 0;
  bool lead_only = false;
  bool behind = false;
  double commit_s = 0;
  double lead_s = 0;
  double slow_mps = 0;           ///< 0 leaves env.slow_mps as it is
  double max_slowdown_mps2 = 0;  ///< 0 leaves env.max_slowdown_mps2 as it is
  double period_s = 3.0;
  double first_command_probability = 0.35;
  double gae_lambda = 0.87;
  int top_k = 0;  ///< 0 leaves vehicles.top_k as it is
};

std::vector<std::string> names_of(const config::ControllerSpec& spec) {
  const auto commands = config::commands_of(spec);
  return {commands.begin(), commands.end()};
}

Suitable suitable_for(const config::ControllerSpec& spec) {
  Suitable to;
  to.max_slowdown_mps2 = spec.get_or("brake_mps2", 0.0);
  const auto add = [&](std::string_view command) { to.commands.emplace_back(command); };
  for (const std::string& command : names_of(spec)) add(command);
  if (spec.name != "none") to.top_k = static_cast<int>(std::lround(spec.get("top")));
  if (spec.name == "meter" || spec.name == "vsl") {
    if (spec.name == "meter") add("fast");
    to.zone_m = std::max(100.0, spec.get("to_m"));
    to.slow_mps = spec.get("speed_mps");
  } else if (spec.name == "yield") {
    // The policy may command a vehicle this much earlier than the script, and farther from the stop
    // line.
    constexpr double kEarlier_s = 12.0;
    to.zone_m = std::max(200.0, spec.get("to_m"));
    to.lead_only = true;
    to.commit_s = 30.0;
    to.lead_s = spec.get("lead_s") + kEarlier_s;
    to.period_s = 5.0;
    to.first_command_probability = 0.5;
    to.gae_lambda = 0.9;
  } else if (spec.name == "let_in" || spec.name == "sort") {
    to.zone_m = std::max(100.0, spec.get("to_m"));
  } else if (spec.name == "brisk") {
    to.zone_m = spec.get("to_m");
    to.behind = spec.get("behind") > 0;
  } else if (spec.name == "glide") {
    to.zone_m = std::max(spec.get("to_m"), spec.get("brisk_m"));
    to.behind = true;
  }
  return to;
}

void add_commands(const std::vector<std::string>& more, Suitable& to) {
  for (const std::string& command : more) {
    if (std::ranges::find(to.commands, command) == to.commands.end())
      to.commands.push_back(command);
  }
}

/// Joins the settings for two scripts. The result admits every vehicle and command that at least
/// one of the scripts needs.
Suitable join(Suitable a, const Suitable& b) {
  add_commands(b.commands, a);
  a.zone_m = std::max(a.zone_m, b.zone_m);
  a.lead_only = a.lead_only && b.lead_only;
  a.behind = a.behind || b.behind;
  a.commit_s = std::max(a.commit_s, b.commit_s);
  a.lead_s = std::max(a.lead_s, b.lead_s);
  a.slow_mps = std::max(a.slow_mps, b.slow_mps);
  a.max_slowdown_mps2 = std::max(a.max_slowdown_mps2, b.max_slowdown_mps2);
  a.period_s = std::min(a.period_s, b.period_s);
  a.first_command_probability = std::max(a.first_command_probability, b.first_command_probability);
  a.gae_lambda = std::max(a.gae_lambda, b.gae_lambda);
  a.top_k = std::max(a.top_k, b.top_k);
  return a;
}

/// Sets the keys of a configuration that follow from a search.
class Settings {
 public:
  Settings(const SearchResult& result, const std::vector<ScenarioFacts>& facts,
           config::Config& config)
      : result_(result), facts_(facts), config_(config) {}

  void follow() {
    config_.env.objective = result_.objective;
    const bool any = std::ranges::any_of(
        result_.scenarios, [](const ScenarioSearch& one) { return one.found() != nullptr; });
    if (!config_.env.vehicles_act()) {
      follow_light_scripts();
    } else if (any) {
      follow_scripts();
    } else {
      begin_without_control();
    }
    fit_batch();
    if (config_.search.training_minutes > 0) fit_time();
  }

 private:
  [[nodiscard]] bool decides(std::string_view key) const {
    const auto& keys = config_.search.decides;
    return std::ranges::find(keys, key) != keys.end();
  }

  template <typename T>
  void set(std::string_view key, T& place, T value) {
    if (decides(key)) place = std::move(value);
  }

  /// Lets the policy begin with almost no commands, so that rare single commands show their
  /// effects. A policy that begins by commanding many vehicles causes worse traffic and only learns
  /// not to command.
  void begin_without_control() {
    set("imitation.iterations", config_.imitation.iterations, std::int64_t{0});
    set("vehicles.advisor", config_.vehicles.advisor, std::string("none"));
    set("vehicles.advice_probability", config_.vehicles.advice_probability, 0.8);
    // A vehicle at half the speed limit is slower than the others, but does not block them.
    if (const double half = mean(&ScenarioFacts::speed_limit_mps) / 2.0; half > 0.0) {
      set("env.slow_mps", config_.env.slow_mps, std::round(10.0 * half) / 10.0);
    }
    compare_with({});
  }

  void follow_scripts() {
    std::vector<std::string> scripts;
    std::optional<Suitable> to;
    for (const ScenarioSearch& one : result_.scenarios) {
      scripts.push_back(one.best);
      if (one.found() == nullptr) continue;
      const Suitable own = suitable_for(config::parse_controller(one.best));
      to = to ? join(*to, own) : own;
    }
    // A single script becomes the policy's advisor. If there are several scripts, the policy
    // imitates them, because each suits one network only.
    const bool advises = scripts.size() == 1 && decides("vehicles.advisor");
    if (advises) take_advice(result_.scenarios.front(), *to);
    config::Env& env = config_.env;
    set("env.zone_m", env.zone_m, to->zone_m);
    set("env.lead_only", env.lead_only, to->lead_only);
    set("env.behind", env.behind, to->behind);
    set("env.commit_s", env.commit_s, to->commit_s);
    set("env.lead_s", env.lead_s, to->lead_s);
    if (to->slow_mps > 0) set("env.slow_mps", env.slow_mps, to->slow_mps);
    if (to->max_slowdown_mps2 > 0) {
      set("env.max_slowdown_mps2", env.max_slowdown_mps2, to->max_slowdown_mps2);
    }
    set("env.control_period_s", env.control_period_s, in_whole_steps(to->period_s));
    set("vehicles.commands", config_.vehicles.commands, to->commands);
    if (to->top_k > 0) {
      set("vehicles.top_k", config_.vehicles.top_k, static_cast<std::int64_t>(to->top_k));
    }
    set("ppo.gae_lambda", config_.ppo.gae_lambda, to->gae_lambda);
    set("episodes.intervention_cost", config_.episodes.intervention_cost, affordable_cost());
    if (!advises) {
      set("vehicles.first_command_probability", config_.vehicles.first_command_probability,
          to->first_command_probability);
      choose_imitation();
    }
    if (config_.imitation.iterations > 0) {
      set("imitation.controllers", config_.imitation.controllers, scripts);
    }
    compare_with(scripts);
  }

  /// Sets the keys for a policy of traffic lights from the script that is best in most scenarios.
  /// If this script keeps the lights' own programs, the policy begins as the script. If the script
  /// replaces the programs, the policy begins as the script `greedy`. If no script helps, the
  /// policy begins as the programs themselves.
  void follow_light_scripts() {
    std::vector<std::string> scripts;
    std::map<std::string, int> times;
    for (const ScenarioSearch& one : result_.scenarios) {
      scripts.push_back(one.best);
      ++times[one.best];
    }
    const std::string best =
        std::ranges::max_element(times, {}, [](const auto& one) { return one.second; })->first;
    std::string advisor(config::kOwnPrograms);
    if (best != "none") {
      const bool may_advise = config::refuse_as_light_advisor(best).empty();
      advisor = may_advise ? best : std::string(config::kTakesOver);
      const double period_s = config::parse_controller(best).get("period_s");
      set("env.control_period_s", config_.env.control_period_s, in_whole_steps(period_s));
    }
    set("lights.advisor", config_.lights.advisor, advisor);
    // The discount factor is set so that rewards lose the same weight per second with every control
    // period.
    constexpr double kDiscountOf5s = 0.95;
    set("lights.ppo.gamma", config_.lights.ppo.gamma,
        std::pow(kDiscountOf5s, config_.env.control_period_s / 5.0));
    compare_with(scripts);
  }

  /// Makes the script the advisor of the policy. The policy may also try the commands of the other
  /// scripts that help, and those of the configuration. The probability of following the advice is
  /// chosen so that about two vehicles deviate in every state. A fixed share, such as one in ten,
  /// would change the traffic too much if the script commands a hundred vehicles.
  void take_advice(const ScenarioSearch& search, Suitable& to) {
    if (!to.lead_only) {
      for (const TriedScript& tried : search.tried) {
        if (!tried.helps()) continue;
        const Suitable own = suitable_for(config::parse_controller(tried.controller));
        add_commands(own.commands, to);
        if (to.slow_mps == 0.0) to.slow_mps = own.slow_mps;
      }
      add_commands(config_.vehicles.commands, to);
    }
    config_.vehicles.advisor = search.best;
    const double commanded =
        search.whole_controlled_s(*search.found()) / std::max(1.0, mean_duration_s());
    constexpr double kDeviating = 2.0;  // vehicles that do not follow the advice
    set("vehicles.advice_probability", config_.vehicles.advice_probability,
        1.0 - std::clamp(kDeviating / std::max(1.0, commanded), 0.01, 0.1));
  }

  /// Chooses the length of imitation if the configuration does not set it. With several scripts,
  /// the imitation of each takes longer, because the policy must learn to distinguish the networks.
  void choose_imitation() {
    if (config_.imitation.iterations > 0) return;
    const auto scenarios = static_cast<std::int64_t>(result_.scenarios.size());
    const std::int64_t long_enough = scenarios == 1 ? kImitation : 3 * kImitation * scenarios;
    set("imitation.iterations", config_.imitation.iterations, long_enough);
    chose_imitation_ = config_.imitation.iterations > 0;
  }

  /// Sets the controllers of the evaluation after the training: no control and these scripts.
  void compare_with(const std::vector<std::string>& scripts) {
    std::vector<std::string> compared{"none"};
    for (const std::string& script : scripts) {
      if (std::ranges::find(compared, script) == compared.end()) compared.push_back(script);
    }
    set("evaluation.controllers", config_.evaluation.controllers, compared);
  }

  /// The period, or a slightly longer one that is a whole number of simulation steps.
  [[nodiscard]] double in_whole_steps(double period_s) const {
    for (const ScenarioFacts& one : facts_) {
      period_s = one.step_length_s * std::ceil(period_s / one.step_length_s - 1e-9);
    }
    return period_s;
  }

  /// Cost per second under control with which all commands of a script together cost at most a
  /// twentieth of the script's gain. With a higher cost, the policy would first learn to drop
  /// commands that gain less than the mean.
  [[nodiscard]] double affordable_cost() const {
    constexpr double kShare = 0.05;
    double cost = config_.episodes.intervention_cost;
    for (const ScenarioSearch& one : result_.scenarios) {
      const TriedScript* script = one.found();
      if (script == nullptr || script->controlled_s <= 0) continue;
      const double reward = config_.episodes.reward_scale / 100.0 * script->gain;
      cost = std::min(cost, kShare * reward / one.whole_controlled_s(*script));
    }
    return cost;
  }

  [[nodiscard]] double mean(double ScenarioFacts::*fact) const {
    double sum = 0.0;
    for (const ScenarioFacts& one : facts_) sum += one.*fact;
    return sum / static_cast<double>(facts_.size());
  }
  [[nodiscard]] double mean_duration_s() const { return mean(&ScenarioFacts::duration_s); }

  /// Simulated time of a training episode: that of the whole scenario, or of a piece of it.
  [[nodiscard]] double episode_length_s() const {
    const double whole_s = mean_duration_s();
    return config_.episodes.length_s > 0 ? std::min(whole_s, config_.episodes.length_s) : whole_s;
  }

  [[nodiscard]] bool whole_episodes() const {
    return config_.episodes.rollout_fragment_length == 0;
  }
  [[nodiscard]] double decisions_of_episode() const {
    return std::ceil(episode_length_s() / config_.env.control_period_s - 1e-9);
  }
  [[nodiscard]] double episodes_of_iteration() const {
    if (whole_episodes()) return static_cast<double>(episodes());
    return static_cast<double>(config_.episodes.train_batch_size) / decisions_of_episode();
  }

  /// Number of episodes in a batch if time does not matter. If episodes are long, half as many are
  /// enough.
  [[nodiscard]] std::int64_t wanted_episodes() const {
    constexpr std::int64_t kEpisodes = 16;
    return episode_length_s() > kLong_s ? kEpisodes / 2 : kEpisodes;
  }
  /// Number of episodes in an iteration with which eight iterations fit into the time of the
  /// training.
  [[nodiscard]] std::int64_t fitting_episodes() const {
    if (config_.search.training_minutes <= 0) return wanted_episodes();
    constexpr double kIterations = 8.0;
    const double seconds = kShareToLearn * 60.0 * config_.search.training_minutes;
    const double of_an_episode_s = kLearning * share_of_scenario() * episode_s();
    return static_cast<std::int64_t>(seconds / (kIterations * of_an_episode_s));
  }
  /// Number of episodes in a batch: the wanted number, or down to a quarter of it if time is short.
  [[nodiscard]] std::int64_t episodes() const {
    return std::clamp(fitting_episodes(), wanted_episodes() / 4, wanted_episodes());
  }
  [[nodiscard]] double share_of_scenario() const {
    return episode_length_s() / std::max(1.0, mean_duration_s());
  }
  [[nodiscard]] double episode_s() const { return std::max(1e-3, result_.episode_s); }

  /// Sets the length of episodes and the size of batches. Long scenarios are cut into pieces, so
  /// that a batch has traffic of all times of the scenario. Pieces begin in traffic without
  /// control, but a policy that begins as a script should learn in the traffic that the script
  /// makes. For such a policy, scenarios are cut only in two cases: if they are very long, or if
  /// they are long and the time suffices for a few iterations only.
  void fit_batch() {
    constexpr double kVeryLong_s = 7200.0;
    constexpr double kPiece_s = 600.0;
    const bool may_be_cut = whole_episodes() && !config_.episodes.baseline_cache.empty();
    const bool is_slow = fitting_episodes() < wanted_episodes() / 4;
    const bool begins_as_script =
        (config_.env.vehicles_act() && config::commands_vehicles(config_.vehicles.advisor)) ||
        (config_.env.lights_act() && config_.lights.advisor != config::kOwnPrograms);
    const bool stays_whole = begins_as_script && !is_slow;
    const double whole_s = stays_whole ? kVeryLong_s : kLong_s;
    if (mean_duration_s() > whole_s && may_be_cut) {
      set("episodes.length_s", config_.episodes.length_s, kPiece_s);
    }
    // If the training collects fragments, the length of episodes does not affect its batches.
    if (!whole_episodes()) return;
    const std::int64_t batch = episodes() * static_cast<std::int64_t>(decisions_of_episode());
    set("episodes.train_batch_size", config_.episodes.train_batch_size, batch);
    set("ppo.minibatch_size", config_.ppo.minibatch_size, std::max<std::int64_t>(1, batch / 4));
  }

  /// Sets the numbers of episodes and iterations so that the training fits into
  /// search.training_minutes. About a tenth of the time is for the uncontrolled runs, a fifth for
  /// evaluations, a tenth for the final comparison, and the rest for learning.
  void fit_time() {
    // Number of whole episodes that could be simulated in search.training_minutes.
    const double all = 60.0 * config_.search.training_minutes / episode_s();
    const auto fit = [](double episodes, double minimum, double maximum) {
      return static_cast<std::int64_t>(std::clamp(episodes, minimum, maximum));
    };
    set("episodes.baseline_episodes", config_.episodes.baseline_episodes, fit(0.1 * all, 4, 64));
    // An evaluation takes twice this number, because it runs greedy and sampled decisions.
    const std::int64_t of_evaluation = fit(0.01 * all, 4, 40);
    const std::int64_t evaluations = fit(0.1 * all / static_cast<double>(of_evaluation), 2, 10);
    set("training.eval_episodes", config_.training.eval_episodes, of_evaluation);
    // The final comparison runs once: without control, with the script, and with the trained
    // controller. Four times as many episodes would halve the 95 % interval.
    const std::int64_t of_final = fit(0.03 * all, 6, 160);
    set("training.final_episodes", config_.training.final_episodes, of_final);
    // A training that collects fragments of episodes learns from a replay, which takes more time.
    const double learning = whole_episodes() ? kLearning : 2.0;
    const double of_iteration = learning * share_of_scenario() * episodes_of_iteration();
    const double maximum = whole_episodes() ? 400.0 : 6400.0 / episodes_of_iteration();
    const std::int64_t iterations = fit(kShareToLearn * all / of_iteration, 4, maximum);
    if (chose_imitation_) {  // imitation leaves PPO a quarter of the iterations
      config_.imitation.iterations =
          std::min(config_.imitation.iterations, std::max(kImitation, iterations * 3 / 4));
    }
    set("training.iterations", config_.training.iterations,
        std::max(iterations, config_.imitation.iterations + 4));
    set("training.eval_interval", config_.training.eval_interval,
        (config_.training.iterations + evaluations - 1) / evaluations);
    // If iterations take longer than expected, training.minutes ends the training early enough for
    // the last evaluation and the final comparison.
    const auto at_the_end = static_cast<double>(2 * of_evaluation + 3 * of_final);
    set("training.minutes", config_.training.minutes,
        config_.search.training_minutes * std::max(0.5, 1.0 - at_the_end / all));
  }

  static constexpr double kShareToLearn = 0.65;  ///< share of a training's time for its iterations
  /// Duration of an iteration, divided by the duration of its simulations alone.
  static constexpr double kLearning = 1.6;
  static constexpr double kLong_s = 1200.0;      ///< episodes above this duration count as long
  static constexpr std::int64_t kImitation = 4;  ///< iterations to imitate a single script

  const SearchResult& result_;
  const std::vector<ScenarioFacts>& facts_;
  config::Config& config_;
  bool chose_imitation_ = false;  ///< whether choose_imitation() has set imitation.iterations
};

}  // namespace

void decide(const SearchResult& result, const std::vector<ScenarioFacts>& facts,
            config::Config& config) {
  Settings(result, facts, config).follow();
}

}  // namespace traffic::train
