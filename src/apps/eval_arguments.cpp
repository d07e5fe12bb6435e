#include "eval_arguments.h"

#include <CLI/CLI.hpp>

namespace traffic::apps {

config::Program eval_program(EvalArguments& arguments) {
  return {
      .name = "traffic_eval",
      .description =
          "Runs controllers on the same seeds and compares them with no control. "
          "Without a configuration file the environment is that of the first checkpoint, with "
          "--preset and --set on top.",
      .add_options =
          [&arguments](CLI::App& app) {
            app.add_option("--scenario", arguments.scenarios,
                           "A .sumocfg or the name of a shipped scenario; repeatable")
                ->type_name("FILE")
                ->allow_extra_args(false);
            app.add_option(
                   "--controller", arguments.controllers,
                   "none, random, meter, vsl, yield, let_in, sort, brisk, glide, or for traffic "
                   "lights greedy, max_pressure, actuated, retime, with parameters as in "
                   "'yield(lead_s=12)', or checkpoint:PATH, which decides as its file says unless "
                   ",greedy or ,sampled follows; one of lights and one of vehicles together as in "
                   "'greedy+yield'; repeatable")
                ->type_name("NAME")
                ->allow_extra_args(false);
            app.add_option("--seeds", arguments.seeds,
                           "Seeds, such as 100..119 (with both ends) or 1,5,9")
                ->type_name("A..B");
            app.add_option("--jobs", arguments.jobs, "Processes; 0: one for each CPU")
                ->check(CLI::Range(0, 1024));
            app.add_option("--demand-scale", arguments.demand_scale,
                           "Factor on the scenario's demand")
                ->check(CLI::Range(0.01, 100.0));
            app.add_flag("--all", arguments.shows_all,
                         "Print every metric; without it, those that fit a terminal");
            app.add_option_function<std::string>(
                   "--json",
                   [&arguments](const std::string& file) {
                     arguments.prints_json = file.empty();
                     arguments.json_path = file;
                   },
                   "Print tables as JSON, or write them to FILE")
                ->type_name("[FILE]")
                ->expected(0, 1);
            app.add_option("--csv", arguments.csv, "Write the episodes to FILE")->type_name("FILE");
            app.add_option("--replay", arguments.replay,
                           "Keep the first seed's traffic under each controller in DIR: "
                           "replay.html for a browser, files for SUMO's tools")
                ->type_name("DIR");
            app.add_option("--against", arguments.against,
                           "3v3 snakes instead of traffic: each controller plays this team, a "
                           "script or checkpoint:PATH; repeatable")
                ->type_name("TEAM")
                ->allow_extra_args(false)
                ->excludes("--print-config");
            app.add_option("--games", arguments.games,
                           "With --against: games for each pair of teams, half of them from "
                           "either side (an odd number is rounded down); the seeds of their "
                           "starts begin with the first of --seeds")
                ->check(CLI::Range(4, 10'000'000))
                ->capture_default_str();
            app.add_option("--driver", arguments.drivers,
                           "Drivers of single vehicles instead of controllers: sumo, idm, "
                           "constant_velocity, checkpoint:PATH; each drives the same vehicles; "
                           "repeatable")
                ->type_name("NAME")
                ->allow_extra_args(false)
                ->excludes("--against");
            app.add_option(
                   "--corrections", arguments.corrections,
                   "With --driver: writes files of scenes into this folder, in which SUMO's "
                   "own driver corrects the others once a second, for further training")
                ->type_name("FOLDER");
            app.add_option("--egos", arguments.egos,
                           "With --driver: vehicles that a driver drives at the same time")
                ->check(CLI::Range(1, 10'000))
                ->capture_default_str();
            app.add_option("--warm-up", arguments.warm_up_s,
                           "With --driver: simulated seconds before the drivers begin")
                ->check(CLI::Range(2.0, 1e6))
                ->capture_default_str();
            app.add_option("--drive-for", arguments.duration_s,
                           "With --driver: simulated seconds that the drivers drive")
                ->check(CLI::Range(0.5, 1e6))
                ->capture_default_str();
          },
      .trains = false};
}

}  // namespace traffic::apps
