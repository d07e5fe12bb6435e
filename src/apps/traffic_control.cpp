/// The program traffic_control: lets a controller command vehicles, traffic lights or both in a
/// SUMO simulation that another program has started.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <set>
#include <span>
#include <string>
#include <variant>

#include "look_at_network.h"
#include "run_app.h"
#include "traffic/config/command_line.h"
#include "traffic/config/write.h"
#include "traffic/core/clock.h"
#include "traffic/core/error.h"
#include "traffic/core/exit.h"
#include "traffic/core/signals.h"
#include "traffic/model/memory.h"
#include "traffic/sim/controller_driver.h"
#include "traffic/sim/env_options.h"
#include "traffic/sim/live.h"
#include "traffic/train/evaluate/environment.h"
#include "traffic/train/evaluate/evaluation.h"
#include "traffic/train/trainings.h"

namespace {

using namespace traffic;

struct Arguments {
  std::string scenario;
  std::string controller;
  std::string address;
  sim::RunningSimulation simulation;
  bool prints_json = false;
};

void say(const std::string& line) {
  std::fputs(fmt::format("traffic_control: {}\n", line).c_str(), stderr);
}

config::Program program_of(Arguments& arguments) {
  return {
      .name = "traffic_control",
      .description =
          "Joins a sumo or sumo-gui that was started with --remote-port PORT --num-clients N, and "
          "controls it as in an evaluation. Without a configuration file the settings are those "
          "that the checkpoint stores; --preset and --set override them.",
      .add_options =
          [&arguments](CLI::App& app) {
            app.add_option("--scenario", arguments.scenario,
                           "The .sumocfg with which SUMO was started, or the name of a shipped "
                           "scenario")
                ->type_name("FILE")
                ->required();
            app.add_option("--controller", arguments.controller,
                           "checkpoint:PATH or a script, as for traffic_eval")
                ->type_name("NAME")
                ->required();
            auto* port = app.add_option("--port", arguments.simulation.port,
                                        "SUMO's --remote-port on this machine")
                             ->check(CLI::Range(1, 65535))
                             ->capture_default_str();
            app.add_option("--connect", arguments.address,
                           "Address of a simulation on another machine. SUMO's protocol TraCI has "
                           "no passwords, so use it only in a network that you trust")
                ->type_name("HOST:PORT")
                ->excludes(port);
            app.add_option("--order", arguments.simulation.order,
                           "Number that decides when this client gets its turn in each step, lower "
                           "numbers first; every client needs a number of its own")
                ->check(CLI::Range(1, 1'000'000))
                ->capture_default_str();
            app.add_option(
                   "--patience", arguments.simulation.patience_s,
                   "Maximum seconds to wait for SUMO or for other clients; 0 means for ever")
                ->check(CLI::Range(0.0, 1e6))
                ->capture_default_str();
            app.add_flag("--json", arguments.prints_json,
                         "Print a JSON object for each control period, with its commands");
          },
      .trains = false};
}

/// Splits the address HOST:PORT. An IPv6 address may be in brackets.
void read_address(Arguments& arguments) {
  if (arguments.address.empty()) return;
  const auto colon = arguments.address.rfind(':');
  sim::RunningSimulation& there = arguments.simulation;
  there.host = arguments.address.substr(0, colon);
  if (there.host.starts_with('[') && there.host.ends_with(']')) {
    there.host = there.host.substr(1, there.host.size() - 2);
  }
  const std::string port = colon == std::string::npos ? "" : arguments.address.substr(colon + 1);
  const bool is_number = !port.empty() && port.size() <= 5 &&
                         std::ranges::all_of(port, [](char c) { return c >= '0' && c <= '9'; });
  there.port = is_number ? std::stoi(port) : 0;
  if (there.host.empty() || there.port < 1 || there.port > 65535) {
    throw ConfigError("--connect: found '{}', expected HOST:PORT such as 192.168.0.7:8813",
                      arguments.address);
  }
}

config::Config configuration(const Arguments& arguments, const config::CommonOptions& options) {
  const train::EvaluationNames names{.controllers = {arguments.controller},
                                     .scenarios = {arguments.scenario}};
  config::Config config = train::evaluation_config(names, options, say);
  train::check_controllers(names.controllers);
  config.env = train::env_in_scenario(config.env, arguments.scenario, options, say);
  return config;
}

/// Reports each control period: with --json as a JSON object, on a terminal as a line that replaces
/// the line before. Reports nothing if the output is another file.
class Report {
 public:
  explicit Report(bool prints_json)
      : prints_json_(prints_json), prints_line_(!prints_json && isatty(STDOUT_FILENO) != 0) {}

  void add(const sim::SumoEnv& env, std::span<const scene::Command> commands,
           std::span<const scene::SignalCommand> lights) {
    num_light_commands_ += static_cast<std::int64_t>(lights.size());
    for (const scene::Command& command : commands) {
      if (!command.empty()) commanded_.insert(command.vehicle_id);
    }
    if (prints_json_) print_json(env, commands, lights);
    if (prints_line_) print_line(env, commands.size(), lights.size());
  }

  /// Prints to stderr how many vehicles and lights got commands, and how fast the simulation was.
  void finish(const sim::SumoEnv& env) const {
    if (prints_line_) std::fputs("\n", stdout);
    const double simulated_s = env.time_s();
    const double rate = simulated_s / std::max(clock_.seconds(), 1e-3);
    say(fmt::format(
        "{} after {:.0f} s of simulated time, {:.1f} times as fast as real time: {} vehicles and "
        "{} lights got commands; SUMO controls all of them again",
        stop_requested() ? "stopped" : "the simulation has ended", simulated_s, rate,
        commanded_.size(), num_light_commands_ > 0 ? env.road().lights.size() : 0));
  }

 private:
  static std::int64_t num_commanded(const sim::SumoEnv& env) {
    return std::ranges::count_if(env.state().vehicles(),
                                 [](const scene::Vehicle& one) { return one.commanded; });
  }

  static void print_json(const sim::SumoEnv& env, std::span<const scene::Command> commands,
                         std::span<const scene::SignalCommand> lights) {
    nlohmann::json line = {{"time_s", env.time_s()},
                           {"vehicles", env.state().vehicles().size()},
                           {"commanded", num_commanded(env)},
                           {"commands", nlohmann::json::array()},
                           {"lights", nlohmann::json::array()}};
    for (const scene::Command& one : commands) {
      line["commands"].push_back({{"vehicle", env.name_of(one.vehicle_id)},
                                  {"command", scene::name_of(one.longitudinal)},
                                  {"lane_change", static_cast<int>(one.lane_change)},
                                  {"value", one.value},
                                  {"hold_s", one.hold_s}});
    }
    for (const scene::SignalCommand& one : lights) {
      line["lights"].push_back({{"light", env.road().lights[static_cast<std::size_t>(one.light)]},
                                {"green", one.green},
                                {"left_s", one.left_s}});
    }
    std::fputs((line.dump() + "\n").c_str(), stdout);
    std::fflush(stdout);
  }

  void print_line(const sim::SumoEnv& env, std::size_t commands, std::size_t lights) const {
    std::fputs(fmt::format("\r{:8.0f} s  {:5} vehicles  {:4} commanded  {:3} new commands  {:3} "
                           "commands to lights  {:7.1f}x real time",
                           env.time_s(), env.state().vehicles().size(), num_commanded(env),
                           commands, lights, env.time_s() / std::max(clock_.seconds(), 1e-3))
                   .c_str(),
               stdout);
    std::fflush(stdout);
  }

  bool prints_json_;
  bool prints_line_;
  Stopwatch clock_;
  std::set<std::uint32_t> commanded_;
  std::int64_t num_light_commands_ = 0;
};

int control(Arguments& arguments, const config::CommonOptions& options) {
  install_stop_handlers();
  read_address(arguments);
  arguments.simulation.say = say;
  config::Config config = configuration(arguments, options);
  if (options.print_config) {
    std::fputs(config::to_toml(config).c_str(), stdout);
    return 0;
  }
  apps::look_at_network(config, {arguments.controller}, say);
  model::pool_all_tensors();
  const auto controller = train::make_controller(config, arguments.controller);
  const auto env = sim::join_simulation(sim::env_options(config.env), arguments.simulation);
  say(fmt::format("has joined the simulation at {}:{}", arguments.simulation.host,
                  arguments.simulation.port));
  sim::ControllerDriver driver;
  driver.begin(controller.get(), *env, env->seed());
  Report report(arguments.prints_json);
  while (!env->done() && !stop_requested()) {
    const auto commands = driver.act(*env);
    if (driver.has_decided()) report.add(*env, commands, driver.signal_commands());
    env->step();
  }
  env->hand_back();
  report.finish(*env);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  exit_without_destructors(run_guarded("traffic_control", [&] {
    train::register_trainings(train::shipped_trainings());
    Arguments arguments;
    const auto parsed = config::parse_command_line(argc, argv, program_of(arguments));
    if (const auto* exit = std::get_if<config::ExitRequest>(&parsed)) {
      std::fputs(exit->text.c_str(), stdout);
      return 0;
    }
    return control(arguments, std::get<config::CommonOptions>(parsed));
  }));
}
