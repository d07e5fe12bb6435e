/// Turns the facts about a scenario into findings: settings that are made for the user, warnings
/// about problems that make results less reliable, and errors that make a run pointless.
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <regex>
#include <string_view>
#include <utility>

#include "traffic/config/controller_spec.h"
#include "traffic/sim/env_options.h"
#include "traffic/sim/network_study.h"

namespace traffic::sim {
namespace {

constexpr double kMinute_s = 60.0;
constexpr double kHour_s = 3600.0;
/// An episode must give vehicles time to drive, even if all of them depart at its begin.
constexpr double kShortestEpisode_s = 600.0;
/// An end later than this is not meant literally: some scenarios have a huge number instead of no
/// end.
constexpr double kLongestEpisode_s = 24 * kHour_s;
/// If a smaller share of the vehicles is connected, there is rarely a connected vehicle where it
/// could help.
constexpr double kFewConnected = 0.05;

/// An end of the episode, in whole minutes, after the last departure.
double sensible_end_s(const NetworkStudy& study) {
  return std::max(kShortestEpisode_s, kMinute_s * std::ceil(study.last_depart_s / kMinute_s));
}

bool looks_connected(std::string name) {
  static const std::regex pattern(
      R"((^|[^a-z])(c?av|cv|cacc)s?([^a-z]|$)|connect|automat|autonom|equipped|v2x)");
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return std::regex_search(name, pattern);
}

std::vector<std::string> types_that_look_connected(const NetworkStudy& study) {
  std::vector<std::string> names;
  for (const auto& [name, demand] : study.types) {
    if (demand.vehicles > 0 && looks_connected(name)) names.push_back(name);
  }
  return names;
}

/// ["CV", "bus"]
std::string toml_list(const std::vector<std::string>& names) {
  return fmt::format("[\"{}\"]", fmt::join(names, "\", \""));
}

/// "HV 75 %, CV 25 %", the most frequent first.
std::string shares_text(const NetworkStudy& study) {
  std::vector<std::pair<double, std::string>> types;
  for (const auto& [name, demand] : study.types) types.emplace_back(-demand.vehicles, name);
  std::sort(types.begin(), types.end());
  constexpr std::size_t kShown = 6;
  std::string text;
  for (std::size_t i = 0; i < std::min(types.size(), kShown); ++i) {
    text += fmt::format("{}{} {:.0f} %", i > 0 ? ", " : "", types[i].second,
                        -100.0 * types[i].first / study.vehicles);
  }
  if (types.size() > kShown) text += fmt::format(" and {} more", types.size() - kShown);
  return text;
}

std::string no_vehicle_is_connected(const NetworkStudy& study, const config::Env& env) {
  return fmt::format("no vehicle is of type '{}'; types are {}", fmt::join(env.cv_types, "' or '"),
                     shares_text(study));
}

template <typename Predicate>
bool has_approach(const NetworkStudy& study, Predicate predicate) {
  return std::ranges::any_of(study.conflicts, [&](const ConflictStudy& conflict) {
    return std::ranges::any_of(conflict.approaches, predicate);
  });
}

}  // namespace

bool can_meter(const NetworkStudy& study) { return has_approach(study, &ApproachStudy::minor); }

bool can_yield(const NetworkStudy& study) { return has_approach(study, &ApproachStudy::may_yield); }

bool can_let_in(const NetworkStudy& study) {
  return std::ranges::any_of(study.conflicts, [](const ConflictStudy& conflict) {
    const auto minor = std::ranges::count_if(conflict.approaches, &ApproachStudy::minor);
    return minor > 0 && minor < std::ssize(conflict.approaches);
  });
}

bool can_limit_speed(const NetworkStudy& study, int lanes) {
  return has_approach(study, [&](const ApproachStudy& approach) {
    return approach.major && approach.lanes >= lanes;
  });
}

bool can_sort(const NetworkStudy& study) {
  return has_approach(study, [](const ApproachStudy& approach) { return approach.lanes >= 2; });
}

namespace {

constexpr const char* kNothingToSort =
    "there is no approach with several lanes between which sort could move vehicles";
constexpr const char* kNothingToLimit =
    "there is no approach with priority and enough lanes on which vsl could slow vehicles down";
constexpr const char* kNothingToLetIn =
    "there is no approach that gives way to another approach, whose vehicles let_in could stop";
constexpr const char* kNothingToMeter =
    "there is no approach that gives way or ends, on which meter could hold vehicles";
constexpr const char* kNothingToYieldTo =
    "there is no main stream that meets a stream released by a light; yield and arrive_late need "
    "one";

/// Collects the findings of one network for a use and a configuration.
class Judge {
 public:
  Judge(const NetworkStudy& study, const config::Config& config, const StudyUse& use)
      : study_(study), config_(config), env_(config.env), use_(use) {
    std::vector<std::string> names = config::controller_parts(use.controllers);
    if (!env_.beside.empty()) names.push_back(env_.beside);
    const bool lights_alone = !env_.vehicles_act();
    sets_lights_ = (use.learns && env_.lights_act()) ||
                   std::any_of(names.begin(), names.end(), config::sets_signals);
    commands_ = (use.learns && !lights_alone) ||
                std::any_of(names.begin(), names.end(), [&](const std::string& name) {
                  const bool of_lights = config::sets_signals(name) ||
                                         (lights_alone && name.starts_with("checkpoint:"));
                  return name != "none" && !of_lights;
                });
  }

  std::vector<StudyFinding> run() {
    look_at_time();
    if (commands_) {
      look_at_conflicts();
      look_at_vehicles();
      look_at_commands();
    }
    if (sets_lights_) look_at_lights();
    look_at_demand();
    say_outputs();
    return std::move(findings_);
  }

 private:
  /// Adds an error if the demand was counted with certainty, else a warning.
  void about_demand(const char* key, std::string found, std::string remedy) {
    if (study_.demand_is_certain) {
      error(key, std::move(found), std::move(remedy));
    } else {
      warn(key, std::move(found) + "; vehicles that the files do not count may still depart",
           std::move(remedy));
    }
  }
  void error(const char* key, std::string found, std::string remedy) {
    findings_.push_back({Severity::kError, key, std::move(found), std::move(remedy)});
  }
  void warn(const char* key, std::string found, std::string remedy) {
    findings_.push_back({Severity::kWarning, key, std::move(found), std::move(remedy)});
  }

  void look_at_time() {
    const auto duration = duration_s(study_, env_);
    if (!duration) {
      const bool endless = study_.demand_without_end || study_.last_depart_s > kLongestEpisode_s;
      error("env.max_time_s",
            endless ? "the scenario has no end, and neither has one of its flows"
                    : "the scenario has no end",
            fmt::format("give its .sumocfg an <end>, or set env.max_time_s = {:g}", kHour_s));
    } else if (*duration > kLongestEpisode_s) {
      warn("env.max_time_s",
           fmt::format("an episode lasts {:.0f} days", *duration / kLongestEpisode_s),
           fmt::format("set env.max_time_s = {:g}", kHour_s));
    }
    const double steps = env_.control_period_s / study_.step_length_s;
    if (use_.learns && std::fabs(steps - std::round(steps)) > 1e-6) {
      error("env.control_period_s",
            fmt::format("a control period of {:g} s is no whole number of steps of {:g} s",
                        env_.control_period_s, study_.step_length_s),
            fmt::format("set env.control_period_s = {:g}",
                        study_.step_length_s * std::max(1.0, std::round(steps))));
    }
    if (study_.time_to_teleport_s > 0) {
      warn("env.sumo_args",
           fmt::format("vehicles that stand for {:g} s are teleported, so that jams dissolve by "
                       "themselves",
                       study_.time_to_teleport_s),
           R"(set env.sumo_args = ["--time-to-teleport", "-1"])");
    }
    if (study_.max_depart_delay_s >= 0) {
      warn(
          "env.sumo_args",
          fmt::format("SUMO deletes vehicles that have waited {:g} s to enter, so that their delay "
                      "does not grow any more",
                      study_.max_depart_delay_s),
          R"(set env.sumo_args = ["--max-depart-delay", "-1"])");
    }
  }

  void look_at_lights() {
    if (study_.trainable_lights > 0) return;
    error("env.scenario",
          study_.lights == 0
              ? "the network has no traffic light"
              : fmt::format("no traffic light of the network ({} in all) has two greens or more "
                            "between which a controller could choose",
                            study_.lights),
          "take a network with such lights");
  }

  void look_at_conflicts() {
    if (!study_.conflicts.empty()) return;
    error("env.scenario",
          "the network has no conflict: nowhere do streams meet or lanes end, so that no vehicle "
          "may ever get a command",
          "take a network with a merge, a junction or a lane drop" + or_the_lights());
  }

  /// Text to append to a remedy if no vehicle can be commanded. It proposes to command the lights
  /// instead.
  [[nodiscard]] std::string or_the_lights() const {
    if (study_.trainable_lights == 0) return "";
    return fmt::format(
        "; or let its {} act: set env.agents = [\"lights\"], as in configs/signals.toml",
        study_.trainable_lights == 1 ? "light" : fmt::format("{} lights", study_.trainable_lights));
  }

  void look_at_vehicles() {
    if (study_.demand_elsewhere || study_.vehicles <= 0) return;
    const double connected = connected_vehicles(study_, env_);
    if (connected <= 0) {
      const auto similar = types_that_look_connected(study_);
      about_demand("env.cv_types", no_vehicle_is_connected(study_, env_),
                   (similar.empty() ? "set env.cv_types to the types that are connected, or "
                                      "connect a share of all vehicles: set env.cv_share = 0.25"
                                    : "set env.cv_types = " + toml_list(similar)) +
                       or_the_lights());
      return;
    }
    if (!study_.conflicts.empty() && connected_past_conflicts() <= 0) {
      about_demand(
          "env.cv_types", "no connected vehicle has a conflict on its route",
          "connect vehicles with a conflict on their route: set env.cv_types or env.cv_share" +
              or_the_lights());
    }
    const double share = connected / study_.vehicles;
    if (share < kFewConnected) {
      warn("env.cv_share", fmt::format("only {:.1f} % of the vehicles are connected", 100 * share),
           "so few vehicles can do little; connect more, for example by env.cv_share = 0.1");
    }
  }

  [[nodiscard]] double connected_past_conflicts() const {
    double sum = 0.0;
    for (const auto& [name, demand] : study_.types) {
      const bool is_connected =
          env_.cv_share > 0 ||
          std::find(env_.cv_types.begin(), env_.cv_types.end(), name) != env_.cv_types.end();
      if (is_connected) sum += demand.past_conflicts;
    }
    return sum;
  }

  void look_at_commands() {
    if (study_.conflicts.empty()) return;
    if (use_.learns && candidate_rule(config_).released_only && !can_yield(study_)) {
      error("vehicles.commands", kNothingToYieldTo,
            R"(set vehicles.commands = ["none", "stop", "slow", "hold", "fast"])");
    }
    for (const std::string& name : config::controller_parts(use_.controllers)) {
      const std::string_view kind = std::string_view(name).substr(0, name.find('('));
      const auto needs = [&](std::string_view script, bool can, const char* nothing) {
        if (kind != script || can) return;
        warn("--controller", fmt::format("{} can do nothing", script), nothing);
      };
      needs("meter", can_meter(study_), kNothingToMeter);
      needs("let_in", can_let_in(study_), kNothingToLetIn);
      needs("yield", can_yield(study_), kNothingToYieldTo);
      needs("sort", can_sort(study_), kNothingToSort);
      if (kind == "vsl") {
        const bool inner = config::parse_controller(name).get("inner") > 0;
        needs("vsl", can_limit_speed(study_, inner ? 2 : 1), kNothingToLimit);
      }
    }
  }

  void look_at_demand() {
    if (study_.demand_elsewhere) {
      warn("env.scenario", "the scenario loads a saved state, whose vehicles were not counted",
           "make sure that some of them are connected");
      return;
    }
    if (study_.vehicles <= 0) {
      if (commands_ || sets_lights_) {
        about_demand("env.scenario", "no vehicle departs before the end of the episode",
                     "look at the route-files of the .sumocfg, its <begin>, and env.max_time_s");
      }
      return;
    }
    if (study_.random_vehicles <= 0 && study_.uncounted_sources.empty()) {
      warn("env.sumo_args",
           "the demand is the same with every seed: seeds change only how vehicles are driven, and "
           "intervals over seeds say nothing about the traffic of another day",
           "use flows with a probability or a period=exp(rate), or add "
           R"("--random-depart-offset", "60" to env.sumo_args)");
    }
    const auto end_s = duration_s(study_, env_);
    if (end_s && study_.uncounted_sources.empty() && 2 * sensible_end_s(study_) < *end_s) {
      warn("env.max_time_s",
           fmt::format("the last vehicle departs at {:.0f} s, but the episode ends at {:.0f} s: "
                       "for most of the episode there is hardly any traffic to control",
                       study_.last_depart_s, *end_s),
           fmt::format("set env.max_time_s = {:.0f}", sensible_end_s(study_)));
    }
  }

  /// Tells the user that runs do not write the output that the scenario's files ask for.
  void say_outputs() {
    if (study_.outputs.empty()) return;
    findings_.push_back(
        {Severity::kSaid, "env.sumo_args",
         fmt::format("the scenario's files ask for output ({})", fmt::join(study_.outputs, ", ")),
         "this output is not written, so that it does not replace files of other runs; to get some "
         "of it, name its file in env.sumo_args"});
  }

  const NetworkStudy& study_;
  const config::Config& config_;
  const config::Env& env_;
  const StudyUse& use_;
  bool commands_ = false;     ///< whether a controller commands vehicles
  bool sets_lights_ = false;  ///< whether a controller sets traffic lights
  std::vector<StudyFinding> findings_;
};

}  // namespace

std::vector<StudyFinding> set_the_obvious(const NetworkStudy& study, config::Env& env) {
  std::vector<StudyFinding> said;
  const bool has_end = study.demand_is_certain && !study.demand_without_end &&
                       study.last_depart_s <= kLongestEpisode_s;
  if (!duration_s(study, env) && has_end && study.vehicles > 0) {
    env.max_time_s = sensible_end_s(study);
    said.push_back({Severity::kSaid, "env.max_time_s",
                    fmt::format("the scenario has no end; its last vehicle departs at {:.0f} s",
                                study.last_depart_s),
                    fmt::format("the program sets env.max_time_s = {:.0f}", env.max_time_s)});
  }
  const auto similar = types_that_look_connected(study);
  const bool untouched = env.cv_types == config::Env{}.cv_types && env.cv_share <= 0;
  if (untouched && connected_vehicles(study, env) <= 0 && similar.size() == 1) {
    std::string found = no_vehicle_is_connected(study, env);
    env.cv_types = similar;
    said.push_back({Severity::kSaid, "env.cv_types", std::move(found),
                    "the program sets env.cv_types = " + toml_list(similar)});
  }
  return said;
}

std::vector<StudyFinding> judge(const NetworkStudy& study, const config::Config& config,
                                const StudyUse& use) {
  return Judge(study, config, use).run();
}

}  // namespace traffic::sim
