#include "normalisation.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numbers>
#include <string_view>

#include "traffic/core/error.h"

namespace traffic::data_prep {
namespace {

constexpr std::string_view kTime = "time";
constexpr std::string_view kTimeSine = "time_sin";
constexpr std::string_view kTimeCosine = "time_cos";

std::string_view name_of(NormaliseBy by) {
  switch (by) {
    case NormaliseBy::kMinMax:
      return "minmax";
    case NormaliseBy::kZScore:
      return "zscore";
    case NormaliseBy::kClamp:
      return "clamp";
    case NormaliseBy::kSineCosine:
      return "sincos";
  }
  return "unknown";
}

/// Splits METHOD:A:B into the method and its numbers.
/// @return false if A or B is not a number
bool split_method(std::string_view text, std::string_view& method, std::vector<double>& numbers) {
  method = text.substr(0, text.find(':'));
  text.remove_prefix(method.size());
  while (!text.empty()) {
    text.remove_prefix(1);
    const auto part = text.substr(0, text.find(':'));
    double value = 0;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), value);
    if (error != std::errc{} || end != part.data() + part.size() || !std::isfinite(value)) {
      return false;
    }
    numbers.push_back(value);
    text.remove_prefix(part.size());
  }
  return true;
}

std::size_t column_of(const data::FeatureTable& table, std::string_view name) {
  const auto found =
      std::find_if(table.begin(), table.end(), [&](const auto& f) { return f.name == name; });
  return static_cast<std::size_t>(found - table.begin());
}

}  // namespace

NormaliseRule parse_rule(const std::string& text) {
  const auto fail = [&] {
    return ConfigError(
        "--feature: found '{}', expected NAME=minmax, NAME=zscore, NAME=clamp:LOW:HIGH or "
        "time=sincos:PERIOD",
        text);
  };
  const auto equals = text.find('=');
  std::string_view method;
  std::vector<double> numbers;
  if (equals == std::string::npos ||
      !split_method(std::string_view(text).substr(equals + 1), method, numbers)) {
    throw fail();
  }
  NormaliseRule rule;
  rule.feature = text.substr(0, equals);
  const bool is_time = rule.feature == kTime;
  if (method == "minmax" && numbers.empty() && !is_time) {
    rule.by = NormaliseBy::kMinMax;
  } else if (method == "zscore" && numbers.empty() && !is_time) {
    rule.by = NormaliseBy::kZScore;
  } else if (method == "clamp" && numbers.size() == 2 && numbers[0] < numbers[1] && !is_time) {
    rule.by = NormaliseBy::kClamp;
    rule.low = numbers[0];
    rule.high = numbers[1];
  } else if (method == "sincos" && numbers.size() <= 1 && is_time) {
    rule.by = NormaliseBy::kSineCosine;
    if (!numbers.empty()) rule.period_s = numbers[0];
    if (rule.period_s <= 0) throw fail();
  } else {
    throw fail();
  }
  return rule;
}

void FittedMoments::add(const data::DatasetReader& file) {
  nodes.resize(file.info().node_features.size());
  edges.resize(file.info().edge_features.size());
  for (const data::Episode& episode : file.episodes()) {
    if (episode.split != data::Split::kTrain) continue;
    const std::int64_t end = episode.first_frame + episode.num_frames;
    for (std::int64_t first = episode.first_frame, count = 0; first < end; first += count) {
      count = file.frames_at_once(first, end);
      const auto frames = file.read_frames(first, count);
      for (std::size_t i = 0; i < frames.node_features.size(); ++i) {
        nodes[i % nodes.size()].add(frames.node_features[i]);
      }
      for (std::size_t i = 0; i < frames.edge_features.size(); ++i) {
        edges[i % edges.size()].add(frames.edge_features[i]);
      }
    }
  }
}

void FittedMoments::merge(const FittedMoments& other) {
  nodes.resize(other.nodes.size());
  edges.resize(other.edges.size());
  for (std::size_t i = 0; i < nodes.size(); ++i) nodes[i].merge(other.nodes[i]);
  for (std::size_t i = 0; i < edges.size(); ++i) edges[i].merge(other.edges[i]);
}

std::int64_t FittedRule::apply(scene::GraphFrame& frame, std::size_t node_width) const {
  auto& values = of_edges ? frame.edge_features : frame.node_features;
  const std::size_t width = of_edges ? data::kNumEdgeFeatures : node_width;
  std::int64_t cut = 0;
  if (rule.by == NormaliseBy::kSineCosine) {
    const double turns = 2 * std::numbers::pi * frame.time_s / rule.period_s;
    for (std::size_t row = 0; row < values.size(); row += width) {
      values[row + column] = static_cast<float>(std::sin(turns));
      values[row + cosine] = static_cast<float>(std::cos(turns));
    }
  } else if (rule.by == NormaliseBy::kClamp) {
    for (std::size_t i = column; i < values.size(); i += width) {
      const float kept =
          std::clamp(values[i], static_cast<float>(rule.low), static_cast<float>(rule.high));
      if (kept != values[i]) ++cut;
      values[i] = kept;
    }
  }
  return cut;
}

namespace {

/// Sets the constants of a rule whose moments are known.
void set_offset_and_scale(FittedRule& fitted) {
  const data::Moments& m = fitted.before;
  double offset = m.min();
  double scale = m.max() - m.min();
  if (fitted.rule.by == NormaliseBy::kZScore) {
    offset = m.mean();
    scale = m.standard_deviation();
  } else if (fitted.rule.by == NormaliseBy::kClamp) {
    offset = (fitted.rule.low + fitted.rule.high) / 2;
    scale = (fitted.rule.high - fitted.rule.low) / 2;
  }
  if (!(scale > 0)) {
    throw ConfigError(
        "--feature {}: this feature is {} in the whole training split, so it has no scale; "
        "leave it out",
        fitted.rule.feature, m.min());
  }
  fitted.offset = static_cast<float>(offset);
  fitted.scale = static_cast<float>(scale);
}

}  // namespace

std::vector<FittedRule> fit(const std::vector<NormaliseRule>& rules, const data::FileInfo& info,
                            const FittedMoments& moments) {
  std::vector<FittedRule> fitted;
  for (const NormaliseRule& rule : rules) {
    FittedRule one;
    one.rule = rule;
    const std::string name(rule.by == NormaliseBy::kSineCosine ? kTimeSine
                                                               : std::string_view(rule.feature));
    one.column = column_of(info.node_features, name);
    one.cosine = column_of(info.node_features, kTimeCosine);
    if (one.column == info.node_features.size()) {
      one.of_edges = true;
      one.column = column_of(info.edge_features, name);
      if (one.column == info.edge_features.size()) {
        throw ConfigError(
            "--feature {}: the data have no such feature; data_prep stats lists the features of "
            "nodes and edges",
            rule.feature);
      }
    }
    one.before = one.of_edges ? moments.edges[one.column] : moments.nodes[one.column];
    if (one.before.count() == 0) {
      throw ConfigError(
          "the files have no values in their train split, from which the constants are computed; "
          "data_prep split assigns episodes to splits");
    }
    if (rule.by != NormaliseBy::kSineCosine) set_offset_and_scale(one);
    fitted.push_back(one);
  }
  return fitted;
}

void set_constants(const std::vector<FittedRule>& rules, data::FileInfo& info) {
  const auto set = [](data::Feature& feature, const FittedRule& rule) {
    feature.offset = rule.offset;
    feature.scale = rule.scale;
  };
  for (const FittedRule& rule : rules) {
    set((rule.of_edges ? info.edge_features : info.node_features)[rule.column], rule);
    if (rule.rule.by == NormaliseBy::kSineCosine) set(info.node_features[rule.cosine], rule);
  }
}

nlohmann::json constants_json(const std::vector<FittedRule>& rules) {
  nlohmann::json out = nlohmann::json::object();
  for (const FittedRule& rule : rules) {
    nlohmann::json one{{"method", name_of(rule.rule.by)},
                       {"offset", rule.offset},
                       {"scale", rule.scale},
                       {"count", rule.before.count()},
                       {"min", rule.before.min()},
                       {"mean", rule.before.mean()},
                       {"std", rule.before.standard_deviation()},
                       {"max", rule.before.max()}};
    if (rule.rule.by == NormaliseBy::kClamp) {
      one["low"] = rule.rule.low;
      one["high"] = rule.rule.high;
    }
    if (rule.rule.by == NormaliseBy::kSineCosine) one["period_s"] = rule.rule.period_s;
    out[rule.rule.feature] = std::move(one);
  }
  return out;
}

}  // namespace traffic::data_prep
