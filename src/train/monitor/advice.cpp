#include "monitor/advice.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace traffic::train {
namespace {

/// A metric must be out of range this many times in a row before it is reported, because a single
/// line of metrics may include the time of a checkpoint or of the first reads from a disk.
constexpr int kTimes = 3;
/// An advice may be repeated once the metric was within range this many times in a row.
constexpr int kCeased = 20;

/// The range of a metric, and the advice if the metric is out of range.
struct Rule {
  std::string_view figure;
  double limit;
  bool below;  ///< true: a value below the limit is out of range; false: a value above it
  /// Format string; its argument is the metric in %.
  const char* advice;
};

constexpr std::array<Rule, 8> kRules{{
    {"wait/data", 0.2, false,
     "ranks wait for data {:.0f} % of the time: raise data.num_workers, data.prefetch_factor or "
     "data.cache_mb, or read from a faster disk"},
    {"wait/small_steps", 0.4, false,
     "{:.0f} % of the time is spent on reducing gradients and updating parameters: raise "
     "data.batch_size or train.accumulation_steps"},
    {"wait/other_ranks", 0.3, false,
     "a rank waits for others {:.0f} % of the time: set data.shard_weights = \"measured\" for "
     "unequal machines, raise data.batch_size, or set comm.compression between nodes"},
    {"wait/ranks", 0.7, false,
     "simulations wait for their ranks at least {:.0f} % of the time: lower ppo.num_epochs, set "
     "vehicles.perception_precision = \"bf16\", or start more ranks; fewer rollout.workers "
     "would be as fast"},
    {"wait/simulations", 0.95, false,
     "ranks wait for their simulations {:.0f} % of the time: raise rollout.workers up to the "
     "number of cores, or raise env.control_period_s"},
    {"train/overflow_rate", 0.1, false,
     "{:.0f} % of the updates were left out because the gradient was not finite: lower "
     "loss_scale.initial or train.learning_rate, or set train.precision = \"bf16\""},
    {"train/clipped", 0.99, false,
     "in {:.0f} % of the steps the gradient was far above the norm to which it is clipped: lower "
     "train.learning_rate, or raise train.clip_norm"},
    {"gpu/busy", 0.3, true,
     "the GPUs compute {:.0f} % of the time: raise data.batch_size or ppo.minibatch_size, or start "
     "fewer ranks"},
}};

const double* find(const report::NamedValues& figures, std::string_view name) {
  const auto found =
      std::ranges::find_if(figures, [&](const auto& figure) { return figure.first == name; });
  return found == figures.end() ? nullptr : &found->second;
}

}  // namespace

report::NamedValues WaitShares::take(const TimeSplit& split, double other_ranks_s, bool simulates) {
  const double total_s = split.total_seconds() - total_before_s_;
  total_before_s_ = split.total_seconds();
  const auto passed = [&](TimeShare share) {
    const double now_s = split.seconds(share);
    return now_s - std::exchange(before_s_[to_string(share)], now_s);
  };
  const double data_s = passed(TimeShare::kData);
  const double others_s = other_ranks_s - std::exchange(other_ranks_before_s_, other_ranks_s);
  const double small_s =
      std::max(0.0, passed(TimeShare::kReduce) - others_s) + passed(TimeShare::kOptimizer);
  const double simulate_s = passed(TimeShare::kSimulate);
  const double busy_s = passed(TimeShare::kLearn) + 0.5 * passed(TimeShare::kInfer);
  if (total_s <= 0.0) return {};
  report::NamedValues values{{"wait/data", data_s / total_s},
                             {"wait/other_ranks", std::min(1.0, others_s / total_s)},
                             {"wait/small_steps", small_s / total_s}};
  if (simulates) {
    values.emplace_back("wait/simulations", simulate_s / total_s);
    values.emplace_back("wait/ranks", busy_s / total_s);
  }
  return values;
}

std::vector<std::string> Adviser::look(const report::NamedValues& figures) {
  std::vector<std::string> said;
  for (const Rule& rule : kRules) {
    const double* figure = find(figures, rule.figure);
    if (figure == nullptr) continue;
    State& state = states_[std::string(rule.figure)];
    const bool out = rule.below ? *figure < rule.limit : *figure > rule.limit;
    state.out = out ? state.out + 1 : 0;
    state.within = out ? 0 : state.within + 1;
    if (state.within == kCeased) state.said = false;
    if (state.out < kTimes || state.said) continue;
    state.said = true;
    said.push_back(fmt::format(fmt::runtime(rule.advice), 100.0 * *figure));
  }
  return said;
}

}  // namespace traffic::train
