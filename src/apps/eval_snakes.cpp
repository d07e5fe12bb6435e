// The option --against of traffic_eval: plays the game 3v3 snakes.
#include "eval_snakes.h"

#include <cstdint>
#include <cstdio>
#include <numeric>
#include <string>
#include <vector>

#include "traffic/core/atomic_file.h"
#include "traffic/core/error.h"
#include "traffic/train/evaluate/evaluation.h"
#include "traffic/train/snakes/match.h"

namespace traffic::apps {

int play_snakes(const EvalArguments& arguments) {
  if (arguments.controllers.empty()) {
    throw ConfigError(
        "--against needs --controller with the team that plays against it: the name of a script of "
        "the game, or {}PATH",
        train::kCheckpointTeam);
  }
  std::vector<std::uint64_t> starts(static_cast<std::size_t>(arguments.games / 2));
  std::iota(starts.begin(), starts.end(), train::parse_seeds(arguments.seeds).front());
  std::string json;
  for (const std::string& name : arguments.controllers) {
    const auto team = train::make_snakes_team(name);
    for (const std::string& against : arguments.against) {
      const auto other = train::make_snakes_team(against);
      const train::SnakesScore score =
          train::score_of(train::play_snakes_match(*team, *other, starts));
      json += (json.empty() ? "[" : ",\n ") + train::score_json(team->name(), other->name(), score);
      if (arguments.prints_json) continue;
      std::fputs(train::describe_score(team->name(), other->name(), score).c_str(), stdout);
      std::fflush(stdout);
    }
  }
  json += "]\n";
  if (!arguments.json_path.empty()) write_file_atomically(arguments.json_path, json);
  if (arguments.prints_json) std::fputs(json.c_str(), stdout);
  return 0;
}

}  // namespace traffic::apps
