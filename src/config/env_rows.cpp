/// The schema of the configuration has a row for each key (schema.h). This file has the rows of the
/// tables [env] and [rollout].
#include "rows.h"
#include "traffic/config/objective.h"
#include "traffic/config/scenario_mix.h"

namespace traffic::config {

std::vector<Row> env_rows() {
  return {
      {TRAFFIC_KEY(env.scenario), .help = "Path of a .sumocfg, or the name of a shipped scenario.",
       .refuse = refuse_empty},
      {TRAFFIC_KEY(env.scenarios),
       .help = "Scenarios that training draws each episode from. An entry is a path or a name, "
               "and may add a weight, as in `\"merge:3\"`; the default weight is 1. An empty list "
               "means `env.scenario` alone. `--set env.scenario` empties the list.",
       .refuse = refuse_scenario_entry},
      {TRAFFIC_KEY(env.sumo_args), .help = "Further arguments of SUMO.", .refuse = refuse_empty},
      {TRAFFIC_KEY(env.cv_types), .help = "SUMO's vehicle types whose vehicles are connected.",
       .refuse = refuse_empty},
      {TRAFFIC_KEY(env.cv_share),
       .help = "Share of all vehicles that are connected. The seed of the episode determines which "
               "vehicles are. 0 means that the vehicles of the types `env.cv_types` are connected.",
       .range = between(0, 1)},
      {TRAFFIC_KEY(env.max_time_s), .help = "End of an episode; 0 means the end of the scenario.",
       .unit = "s", .range = between(0, 1e6)},
      {TRAFFIC_KEY(env.control_period_s),
       .help = "Time between two decisions of the trained controller, a multiple of the scenario's "
               "step length.",
       .unit = "s", .range = above(0, 3600)},
      {TRAFFIC_KEY(env.zone_m),
       .help = "Distance before the next conflict or stop line within which connected vehicles may "
               "be commanded. About 100 is good at merges, 200 in corridors.",
       .unit = "m", .range = above(0, 1e5)},
      {TRAFFIC_KEY(env.lead_only),
       .help = "Whether only the first connected vehicle of each lane may be commanded."},
      {TRAFFIC_KEY(env.behind), .help = "Whether vehicles that have just passed a conflict may be "
                                        "commanded, too. It has no effect with `env.lead_only`."},
      {TRAFFIC_KEY(env.commit_s),
       .help =
           "How long the command `arrive_late` lasts; 0 means one control period, like all other "
           "commands.",
       .unit = "s", .range = between(0, 3600)},
      {TRAFFIC_KEY(env.lead_s),
       .help = "The command `arrive_late` may be given from this long before a conflicting stream "
               "gets green. 0 means only while that stream has green; 1000 means always.",
       .unit = "s", .range = between(0, 3600)},
      {TRAFFIC_KEY(env.agents),
       .help = "The agents that learn: vehicles (connected ones), lights (traffic lights) or both.",
       .choices = {"vehicles", "lights"}},
      {TRAFFIC_KEY(env.beside),
       .help =
           "A scripted controller that acts in all simulations beside the trained controller. "
           "If vehicles are trained, it controls traffic lights (such as `\"greedy\"`). If lights "
           "are trained, it controls vehicles (such as `\"glide\"`). Empty means none."},
      {TRAFFIC_KEY(env.phase_range),
       .help = "Share by which a controller may shorten or lengthen a green of 10 s or longer. It "
               "applies to traffic lights that keep a program in which all phases have fixed "
               "durations.",
       .range = between(0, 1)},
      {TRAFFIC_KEY(env.yellow_s),
       .help = "Duration of yellow between two greens of a traffic light under a controller.",
       .unit = "s", .range = between(0, 60)},
      {TRAFFIC_KEY(env.all_red_s),
       .help = "Time after yellow in which all streams that lose their green have red, before the "
               "next green begins.",
       .unit = "s", .range = between(0, 60)},
      {TRAFFIC_KEY(env.min_green_s), .help = "Minimum duration of a green under a controller.",
       .unit = "s", .range = above(0, 3600)},
      {TRAFFIC_KEY(env.max_green_s),
       .help = "Maximum duration of a green under a controller. After it the next green of the "
               "light's program follows. 0 means no limit.",
       .unit = "s", .range = between(0, 3600)},
      {TRAFFIC_KEY(env.objective),
       .help =
           "Objective of rewards, evaluations and the search. `ocr`: the share of the demand that "
           "gets through; `delay`: the time that vehicles lose, including those that cannot enter; "
           "`co2` and `electricity`: CO2 and electric energy per kilometre, including vehicles "
           "that wait to enter with idling engines; a weighted sum of the relative improvements "
           "of these, such as `0.75*delay+0.25*co2`; `auto`: `ocr` if the search finds that the "
           "traffic is saturated, else `delay`.",
       .refuse = refuse_objective},
      {TRAFFIC_KEY(env.shield),
       .help = "Whether the shield replaces commands by braking when a vehicle follows its leader "
               "too closely."},
      {TRAFFIC_KEY(env.shield_thw_s),
       .help = "Minimum time headway to the leader. The shield brakes a commanded vehicle that "
               "would fall below it.",
       .unit = "s", .range = between(0, 60)},
      {TRAFFIC_KEY(env.shield_ttc_s),
       .help = "Minimum time-to-collision with the leader. The shield brakes a commanded vehicle "
               "that would fall below it.",
       .unit = "s", .range = between(0, 60)},
      {TRAFFIC_KEY(env.shield_brake_mps2), .help = "Deceleration with which the shield brakes.",
       .unit = "m/s2", .range = above(0, 20)},
      {TRAFFIC_KEY(env.slow_mps), .help = "Target speed of the command `slow`.", .unit = "m/s",
       .range = between(0, 100)},
      {TRAFFIC_KEY(env.max_slowdown_mps2),
       .help = "Maximum deceleration towards a target speed below the present speed.",
       .unit = "m/s2", .range = above(0, 20)},
      {TRAFFIC_KEY(env.min_accel_mps2), .help = "Minimum acceleration that may be commanded.",
       .unit = "m/s2", .range = between(-20, 0)},
      {TRAFFIC_KEY(env.max_accel_mps2), .help = "Maximum acceleration that may be commanded.",
       .unit = "m/s2", .range = between(0, 20)},
  };
}

std::vector<Row> rollout_rows() {
  return {
      {TRAFFIC_KEY(rollout.workers),
       .help = "Processes that keep simulations running, on all nodes together.",
       .unit = "processes", .range = between(1, 1024)},
      {TRAFFIC_KEY(rollout.envs_per_worker),
       .help = "Number of simulations that each worker keeps running.", .unit = "simulations",
       .range = between(1, 256)},
      {TRAFFIC_KEY(rollout.max_concurrent_envs),
       .help = "Maximum number of simulations of the whole run; 0 means no limit.",
       .unit = "simulations", .range = between(0, 65536)},
      {TRAFFIC_KEY(rollout.max_vehicles),
       .help =
           "Maximum number of vehicles in a simulation at once. A high value needs no more memory.",
       .unit = "vehicles", .range = between(1, 1e6)},
      {TRAFFIC_KEY(rollout.env_timeout_s),
       .help = "A simulation that gives no sign of life for this long is killed and replaced.",
       .unit = "s", .range = above(0, 86400)},
      {TRAFFIC_KEY(rollout.max_restarts),
       .help = "Number of restarts of a simulation, with no finished episode between them, after "
               "which training stops with exit code 6.",
       .range = between(0, 1000)},
  };
}

}  // namespace traffic::config
