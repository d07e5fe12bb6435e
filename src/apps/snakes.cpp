/// The program snakes: plays the game 3v3 snakes between scripted or trained teams. It shows one
/// game, or counts the wins of many games.
#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "run_app.h"
#include "traffic/core/atomic_file.h"
#include "traffic/core/error.h"
#include "traffic/core/exit.h"
#include "traffic/game/recording.h"
#include "traffic/train/snakes/match.h"
#include "traffic/train/snakes/training.h"

namespace {

using namespace traffic;

struct Options {
  std::string team = "evasive";
  std::string against = "bfs";
  std::uint64_t seed = 1;
  int games = 0;
  int delay_ms = 100;
  std::string page;
};

void compare(const Options& options, train::SnakesTeam& team, train::SnakesTeam& against) {
  std::vector<std::uint64_t> starts(static_cast<std::size_t>(options.games / 2));
  std::iota(starts.begin(), starts.end(), options.seed);
  const train::SnakesScore score = train::score_of(train::play_snakes_match(team, against, starts));
  fmt::print("{}", train::describe_score(team.name(), against.name(), score));
}

/// Draws the game step by step if the output is a terminal. Otherwise prints only the last board.
void show(const game::Recording& recording, int delay_ms) {
  const std::size_t last = recording.boards.size() - 1;
  const bool moves = isatty(STDOUT_FILENO) == 1;
  for (std::size_t step = moves ? 0 : last; step <= last; ++step) {
    if (moves && step > 0) {
      std::this_thread::sleep_for(std::chrono::milliseconds(delay_ms));
      fmt::print("\x1b[{}A", game::kTerminalLines);
    }
    fmt::print("{}", terminal_board(recording, step, moves));
    std::fflush(stdout);
  }
}

ExitCode run(const Options& options) {
  train::register_trainings({train::snakes_training()});
  const auto team = train::make_snakes_team(options.team);
  const auto against = train::make_snakes_team(options.against);
  if (options.games > 0) {
    compare(options, *team, *against);
    return ExitCode::kDone;
  }
  const game::Recording recording = game::record_game(
      options.seed, {team->player(), against->player()}, {team->name(), against->name()});
  if (options.page.empty()) {
    show(recording, options.delay_ms);
  } else {
    write_file_atomically(options.page, replay_page(recording));
    fmt::print("{}: open it in a browser\n", options.page);
  }
  return ExitCode::kDone;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{fmt::format("Plays 3v3 snakes between two teams. A team is one of {}, or {}PATH.",
                           game::opponent_names(), train::kCheckpointTeam),
               "snakes"};
  Options options;
  app.add_option("--team", options.team, "Team of the snakes A, B and C")->capture_default_str();
  app.add_option("--against", options.against, "Team of the snakes D, E and F")
      ->capture_default_str();
  app.add_option("--seed", options.seed, "Seed of the game; with --games, of the first game")
      ->capture_default_str();
  app.add_option("--games", options.games,
                 "Play this many games (an odd number is rounded down) and count the wins. Each "
                 "starting position is played twice; the teams change sides for the second game")
      ->check(CLI::Range(4, 10'000'000));
  app.add_option("--page", options.page, "Write the game to this file, as a page for a browser");
  app.add_option("--delay-ms", options.delay_ms, "Pause between steps on a terminal, ms")
      ->check(CLI::Range(0, 10'000))
      ->capture_default_str();
  exit_without_destructors(run_app(app, argc, argv, [&] { return run(options); }));
}
