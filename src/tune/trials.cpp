/// Chooses the trials of a search, i.e. the combinations of settings to train: all combinations of
/// the values in the search's table, or random ones.
#include <fmt/format.h>

#include <cmath>

#include "traffic/core/random.h"
#include "traffic/core/random_streams.h"
#include "traffic/tune/study.h"

namespace traffic::tune {
namespace {

std::string drawn(const Choice& choice, Rng& rng) {
  if (!choice.values.empty()) return choice.values[rng.uniform_int(choice.values.size())];
  if (choice.whole) {
    const auto low = static_cast<std::int64_t>(choice.low);
    const auto count = static_cast<std::uint64_t>(choice.high - choice.low) + 1;
    if (!choice.logarithmic) {
      return fmt::format("{}", low + static_cast<std::int64_t>(rng.uniform_int(count)));
    }
  }
  const double value = choice.logarithmic
                           ? std::exp(rng.uniform(std::log(choice.low), std::log(choice.high)))
                           : rng.uniform(choice.low, choice.high);
  return choice.whole ? fmt::format("{}", std::llround(value)) : fmt::format("{:.4g}", value);
}

std::vector<Trial> all_combinations(const Table& table) {
  std::vector<Trial> trials(1);
  for (const Choice& choice : table.choices) {
    std::vector<Trial> longer;
    for (const Trial& trial : trials) {
      for (const std::string& value : choice.values) {
        longer.push_back(trial);
        longer.back().values.push_back(value);
      }
    }
    trials = std::move(longer);
  }
  return trials;
}

}  // namespace

std::vector<Trial> draw_trials(const Table& table) {
  std::vector<Trial> trials;
  if (table.grid) {
    trials = all_combinations(table);
  } else {
    for (std::int64_t number = 0; number < table.trials; ++number) {
      Rng rng(derive_seed(table.seed, {kTrialStream, static_cast<std::uint64_t>(number)}));
      Trial& trial = trials.emplace_back();
      for (const Choice& choice : table.choices) trial.values.push_back(drawn(choice, rng));
    }
  }
  for (std::size_t i = 0; i < trials.size(); ++i) trials[i].number = static_cast<int>(i);
  return trials;
}

}  // namespace traffic::tune
