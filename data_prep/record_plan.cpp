#include "record_plan.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <numeric>
#include <optional>
#include <span>

#include "traffic/config/controller_spec.h"
#include "traffic/core/error.h"
#include "traffic/core/random.h"
#include "traffic/core/random_streams.h"

namespace traffic::data_prep {
namespace {

constexpr std::int64_t kDefaultEpisodes = 40;
/// Maximum number of episodes in a file. If the worker of a file crashes twice, its episodes are
/// lost.
constexpr std::size_t kEpisodesPerFile = 16;
constexpr std::int64_t kMaxEpisodes = 1'000'000;

template <typename T>
std::optional<T> parse_number(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::vector<std::string_view> split_text(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const auto at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

struct SeedRange {
  std::uint64_t first = kFirstRecordingSeed;
  std::int64_t count = 0;  ///< 0 means one seed for each episode
};

SeedRange parse_seeds(const std::string& text) {
  const auto fail = [&] {
    return ConfigError("--seeds: found '{}', expected A or A..B with A <= B", text);
  };
  const auto dots = text.find("..");
  const auto first = parse_number<std::uint64_t>(std::string_view(text).substr(0, dots));
  if (!first) throw fail();
  if (dots == std::string::npos) return {*first, 0};
  const auto last = parse_number<std::uint64_t>(std::string_view(text).substr(dots + 2));
  if (!last || *last < *first || *last - *first >= kMaxEpisodes) throw fail();
  return {*first, static_cast<std::int64_t>(*last - *first) + 1};
}

std::int64_t count_episodes(const RecordOptions& options, const SeedRange& seeds) {
  if (options.episodes < 0 || options.episodes > kMaxEpisodes) {
    throw ConfigError("--episodes: found {}, expected 1 to {}", options.episodes, kMaxEpisodes);
  }
  if (seeds.count > 0 && options.episodes > 0 && seeds.count != options.episodes) {
    throw ConfigError(
        "--seeds {} has {} seeds, but --episodes is {}; give one of them, or a first "
        "seed only",
        options.seeds, seeds.count, options.episodes);
  }
  return std::max({seeds.count, options.episodes,
                   seeds.count + options.episodes == 0 ? kDefaultEpisodes : std::int64_t{1}});
}

std::vector<ControlShare> parse_control(const std::string& text) {
  std::vector<ControlShare> shares;
  std::vector<std::string_view> known;
  for (const config::ControllerKind& kind : config::controller_kinds()) known.push_back(kind.name);
  for (const auto part : split_text(text, ',')) {
    const auto colon = part.find(':');
    const auto name = part.substr(0, colon);
    const auto weight = colon == std::string_view::npos
                            ? std::optional<double>(1.0)
                            : parse_number<double>(part.substr(colon + 1));
    if (!weight || !std::isfinite(*weight) || *weight <= 0 ||
        std::find(known.begin(), known.end(), name) == known.end()) {
      throw ConfigError("--control: found '{}', expected NAME or NAME:WEIGHT with a name of {}",
                        part, fmt::join(known, ", "));
    }
    shares.push_back({std::string(name), *weight});
  }
  return shares;
}

/// Returns n indices into `weights`. Each index occurs in proportion to its weight, and at least
/// once if n is large enough.
std::vector<std::size_t> deal_in_order(std::size_t n, std::span<const double> weights) {
  const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
  std::vector<std::size_t> dealt;
  const auto positive = static_cast<std::size_t>(
      std::count_if(weights.begin(), weights.end(), [](double w) { return w > 0; }));
  if (n >= positive) {
    for (std::size_t i = 0; i < weights.size(); ++i) {
      if (weights[i] > 0) dealt.push_back(i);
    }
  }
  // Each further index goes to the weight that is furthest behind its share.
  std::vector<double> given(weights.size(), 0.0);
  for (const auto i : dealt) ++given[i];
  while (dealt.size() < n) {
    std::size_t next = 0;
    double most_behind = -1e300;
    for (std::size_t i = 0; i < weights.size(); ++i) {
      const double behind = weights[i] / total * static_cast<double>(n) - given[i];
      if (weights[i] > 0 && behind > most_behind) {
        most_behind = behind;
        next = i;
      }
    }
    ++given[next];
    dealt.push_back(next);
  }
  return dealt;
}

/// Returns the same indices as deal_in_order(), shuffled.
std::vector<std::size_t> deal(std::size_t n, std::span<const double> weights, Rng rng) {
  auto dealt = deal_in_order(n, weights);
  rng.shuffle(std::span(dealt));
  return dealt;
}

std::vector<data::Split> to_splits(const std::vector<std::size_t>& indices) {
  std::vector<data::Split> splits;
  for (const std::size_t index : indices) splits.push_back(static_cast<data::Split>(index));
  return splits;
}

}  // namespace

std::vector<double> parse_split(const std::string& text) {
  std::vector<double> shares;
  for (const auto part : split_text(text, ',')) {
    const auto share = parse_number<double>(part);
    if (!share || !(*share >= 0 && *share <= 1)) break;
    shares.push_back(*share);
  }
  const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
  if (shares.size() != data::kNumSplits || std::abs(sum - 1) > 1e-6) {
    throw ConfigError(
        "--split: found '{}', expected three shares that add up to 1 (train, "
        "validation, test), e.g. 0.8,0.1,0.1",
        text);
  }
  return shares;
}

std::vector<data::Split> deal_splits(std::size_t n, std::span<const double> shares) {
  return to_splits(deal_in_order(n, shares));
}

std::vector<data::Split> deal_splits(std::size_t n, std::span<const double> shares,
                                     std::uint64_t seed) {
  return to_splits(deal(n, shares, Rng(derive_seed(seed, {kSplitStream}))));
}

RecordPlan plan_recording(const RecordOptions& options, std::int64_t jobs) {
  const SeedRange seeds = parse_seeds(options.seeds);
  const auto n = static_cast<std::size_t>(count_episodes(options, seeds));
  const auto controls = parse_control(options.control);
  const auto split = parse_split(options.split);
  for (const double scale : options.demand_scales) {
    if (!(std::isfinite(scale) && scale > 0)) {
      throw ConfigError("--demand-scale: found {}, expected positive numbers", scale);
    }
  }
  RecordPlan plan;
  std::vector<double> weights;
  for (const auto& control : controls) {
    plan.controllers.push_back(control.name);
    weights.push_back(control.weight);
  }
  const std::vector<double> even(options.demand_scales.size(), 1.0);
  const auto rng = [&](RecordingStream stream) { return Rng(derive_seed(seeds.first, {stream})); };
  const auto split_of = deal_splits(n, split, seeds.first);
  const auto controller_of = deal(n, weights, rng(kControllerMixStream));
  const auto demand_of = deal(n, even, rng(kDemandStream));
  for (std::size_t i = 0; i < n; ++i) {
    plan.episodes.push_back({.seed = seeds.first + i,
                             .demand_scale = options.demand_scales[demand_of[i]],
                             .controller = static_cast<std::uint8_t>(controller_of[i]),
                             .split = split_of[i]});
  }
  // The number of files is a multiple of the number of jobs, so that all jobs end at about the same
  // time.
  const auto workers = static_cast<std::size_t>(std::max<std::int64_t>(1, jobs));
  const std::size_t rounds = (n + workers * kEpisodesPerFile - 1) / (workers * kEpisodesPerFile);
  const std::size_t files = std::min(n, workers * rounds);
  for (std::size_t f = 0; f <= files; ++f) plan.file_begin.push_back(n * f / files);
  return plan;
}

}  // namespace traffic::data_prep
