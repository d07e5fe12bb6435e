// Describes the options of traffic_eval.
#include "eval_arguments.h"

#include <CLI/CLI.hpp>

namespace traffic::apps {

config::Program eval_program(EvalArguments& arguments) {
  return {
      .name = "traffic_eval",
      .description =
          "Runs controllers on the same seeds and compares them with no control. "
          "Without a configuration file, the simulations have the settings that the first "
          "checkpoint stores; --preset and --set override them.",
      .add_options =
          [&arguments](CLI::App& app) {
            app.add_option("--scenario", arguments.scenarios,
                           "A .sumocfg or the name of a shipped scenario; repeatable")
                ->type_name("FILE")
                ->allow_extra_args(false);
            app.add_option(
                   "--controller", arguments.controllers,
                   "A script for vehicles: none, random, meter, vsl, yield, let_in, sort, brisk, "
                   "glide; a script for traffic lights: greedy, max_pressure, actuated, retime; "
                   "with parameters as in 'yield(lead_s=12)'. Or a trained controller: "
                   "checkpoint:PATH; append ,greedy or ,sampled to replace the way of deciding "
                   "that the checkpoint stores. A controller of lights and one of vehicles act "
                   "together as in 'greedy+yield'. Repeatable")
                ->type_name("NAME")
                ->allow_extra_args(false);
            app.add_option("--seeds", arguments.seeds,
                           "Seeds, such as 100..119 (both ends included) or 1,5,9")
                ->type_name("A..B");
            app.add_option("--jobs", arguments.jobs,
                           "Maximum number of episodes that are simulated at the same time; 0 "
                           "means one for each CPU")
                ->check(CLI::Range(0, 1024));
            app.add_option("--demand-scale", arguments.demand_scale,
                           "Factor on the scenario's demand")
                ->check(CLI::Range(0.01, 100.0));
            app.add_flag("--emissions", arguments.emissions,
                         "Measure CO2, fuel and electric energy with SUMO's emission models; "
                         "implied if env.objective contains co2 or electricity");
            app.add_flag("--all", arguments.shows_all,
                         "Print all metrics instead of those that fit a terminal");
            app.add_option_function<std::string>(
                   "--json",
                   [&arguments](const std::string& file) {
                     arguments.prints_json = file.empty();
                     arguments.json_path = file;
                   },
                   "Print the tables as JSON, or write them to FILE if a file is given")
                ->type_name("[FILE]")
                ->expected(0, 1);
            app.add_option("--csv", arguments.csv, "Write the metrics of each episode to FILE")
                ->type_name("FILE");
            app.add_option("--replay", arguments.replay,
                           "Record the traffic of the first seed under each controller in DIR: "
                           "replay.html for a browser, files for SUMO's tools")
                ->type_name("DIR");
            app.add_option("--against", arguments.against,
                           "Play the game 3v3 snakes instead of simulating traffic: each "
                           "--controller plays against this team, a script or checkpoint:PATH; "
                           "repeatable")
                ->type_name("TEAM")
                ->allow_extra_args(false)
                ->excludes("--print-config");
            app.add_option(
                   "--games", arguments.games,
                   "With --against: number of games for each pair of teams (an odd "
                   "number is rounded down). Each starting position is played twice; the teams "
                   "change sides for the second game. The first seed of --seeds gives the first "
                   "position, the next higher numbers give the next positions")
                ->check(CLI::Range(4, 10'000'000))
                ->capture_default_str();
            app.add_option("--driver", arguments.drivers,
                           "Compare drivers of single vehicles instead of controllers: sumo "
                           "(SUMO's own driver), idm, constant_velocity or checkpoint:PATH. The "
                           "prefix guarded: adds emergency braking to any driver except sumo, as "
                           "in guarded:idm. All drivers drive the same vehicles. Repeatable")
                ->type_name("NAME")
                ->allow_extra_args(false)
                ->excludes("--against");
            app.add_option("--corrections", arguments.corrections,
                           "With --driver: write scenes for further training into this folder. "
                           "Once a second the scenes show how SUMO's own driver would continue "
                           "from the place that another driver has reached")
                ->type_name("FOLDER");
            app.add_option("--egos", arguments.egos,
                           "With --driver: maximum number of vehicles that a driver drives at the "
                           "same time")
                ->check(CLI::Range(1, 10'000))
                ->capture_default_str();
            app.add_option("--warm-up", arguments.warm_up_s,
                           "With --driver: simulated seconds in which SUMO drives all vehicles, "
                           "before the drivers begin")
                ->check(CLI::Range(2.0, 1e6))
                ->capture_default_str();
            app.add_option("--drive-for", arguments.duration_s,
                           "With --driver: maximum simulated seconds that the drivers drive after "
                           "the warm-up")
                ->check(CLI::Range(0.5, 1e6))
                ->capture_default_str();
          },
      .trains = false};
}

}  // namespace traffic::apps
