/// Scripted teams of 3v3 snakes: a game to look at, or many games with the share that is won.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include "traffic/core/atomic_file.h"
#include "traffic/core/error.h"
#include "traffic/core/version.h"
#include "traffic/game/recording.h"
#include "traffic/report/paired_statistics.h"

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

game::Opponent team_named(const std::string& name) {
  const auto found = game::opponent_named(name);
  if (!found) {
    throw ConfigError("no team is named '{}', expected one of {}, or its level 0 to {}", name,
                      game::opponent_names(), game::kNumOpponents - 1);
  }
  return *found;
}

void compare(const Options& options, game::Opponent team, game::Opponent against) {
  std::vector<double> scores;
  double own = 0;
  double others = 0;
  const auto pairs = game::play_match(game::player_of(team), game::player_of(against),
                                      options.games / 2, options.seed);
  for (const game::Pair& pair : pairs) {
    scores.push_back(100.0 * pair.score());
    own += pair.own[0] + pair.own[1];
    others += pair.others[0] + pair.others[1];
  }
  const report::MeanInterval wins = report::mean_interval(scores);
  const auto games = static_cast<double>(2 * pairs.size());
  fmt::print(
      "{} against {}: wins {:.1f} % +- {:.1f} of {} games (a draw is half a win), both sides of {} "
      "starts; grows by {:.1f} : {:.1f}\n",
      name_of(team), name_of(against), wins.mean, wins.half_width, 2 * pairs.size(), pairs.size(),
      own / games, others / games);
}

/// On a terminal step by step, each drawn over the one before; else only the end.
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

ExitCode run(int argc, char** argv) {
  CLI::App app{"Plays 3v3 snakes between scripted teams: " + game::opponent_names() + ".",
               "snakes"};
  app.set_version_flag("--version", fmt::format("snakes {}", version()));
  Options options;
  app.add_option("--team", options.team, "Team A B C")->capture_default_str();
  app.add_option("--against", options.against, "Team D E F")->capture_default_str();
  app.add_option("--seed", options.seed, "Of the start, or of the first one")
      ->capture_default_str();
  app.add_option("--games", options.games,
                 "Play so many, each start from both sides, and say how many are won")
      ->check(CLI::Range(4, 10'000'000));
  app.add_option("--page", options.page, "Write a game as a page for a browser to this file");
  app.add_option("--delay-ms", options.delay_ms, "Between steps on a terminal")
      ->check(CLI::Range(0, 10'000))
      ->capture_default_str();
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() != 0) throw ConfigError("{}; see snakes --help", error.what());
    app.exit(error);  // prints help or version
    return ExitCode::kDone;
  }
  const game::Opponent team = team_named(options.team);
  const game::Opponent against = team_named(options.against);
  if (options.games > 0) {
    compare(options, team, against);
    return ExitCode::kDone;
  }
  const game::Recording recording =
      game::record_game(options.seed, {game::player_of(team), game::player_of(against)},
                        {std::string(name_of(team)), std::string(name_of(against))});
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
  try {
    return static_cast<int>(run(argc, argv));
  } catch (const Error& error) {
    fmt::print(stderr, "snakes: {}\n", error.what());
    return static_cast<int>(error.code());
  } catch (const std::exception& error) {
    fmt::print(stderr, "snakes: {}\n", error.what());
    return static_cast<int>(ExitCode::kInternal);
  }
}
