#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "closed_loop/drive_fields.h"
#include "traffic/core/error.h"
#include "traffic/report/paired_statistics.h"
#include "traffic/train/closed_loop/drive_evaluation.h"

namespace traffic::train {
namespace {

using driving::DriveMeasures;

/// Identifies an episode: index of the scenario, and seed.
using EpisodeKey = std::pair<std::size_t, std::uint64_t>;

/// Sums of the metrics over egos.
struct DriveSum {
  DriveMeasures measures;
  double reference_m = 0.0;  ///< progress of the same egos under SUMO's own driver
  double score = 0.0;
  std::int64_t egos = 0;
  std::int64_t arrived = 0;
  std::int64_t lost = 0;

  void add(const DriveMeasures& one, double reference) {
    for (const DriveField& field : drive_fields()) {
      field.set(measures, field.get(measures) + field.get(one));
    }
    reference_m += reference;
    score += driving::drive_score(one, reference);
    ++egos;
    arrived += one.is_arrived ? 1 : 0;
    lost += one.is_lost ? 1 : 0;
  }
  [[nodiscard]] double mean_score() const { return score / static_cast<double>(egos); }
  [[nodiscard]] double per_km(std::int64_t count) const {
    return measures.driven_m > 0.0 ? 1000.0 * static_cast<double>(count) / measures.driven_m : 0.0;
  }
  [[nodiscard]] double time_percent(double seconds) const {
    return measures.seconds > 0.0 ? 100.0 * seconds / measures.seconds : 0.0;
  }
  [[nodiscard]] double progress_percent() const {
    return reference_m > 0.0 ? 100.0 * measures.progress_m / reference_m : 100.0;
  }
};

class DriveResults {
 public:
  DriveResults(const DriveEvaluationPlan& plan, const std::vector<DrivenEgo>& egos)
      : all_(plan.drivers.size()), episodes_(plan.drivers.size()) {
    std::map<std::pair<EpisodeKey, std::string>, double> references;
    for (const DrivenEgo& ego : egos) {
      if (ego.driver == 0)
        references[{{ego.scenario, ego.seed}, ego.name}] = ego.measures.progress_m;
    }
    for (const DrivenEgo& ego : egos) {
      const EpisodeKey key{ego.scenario, ego.seed};
      const auto reference = references.find({key, ego.name});
      TRAFFIC_CHECK(reference != references.end(),
                    "the results of SUMO's own driver lack vehicle {} of seed {}", ego.name,
                    ego.seed);
      all_[ego.driver].add(ego.measures, reference->second);
      episodes_[ego.driver][key].add(ego.measures, reference->second);
    }
  }

  [[nodiscard]] const DriveSum& all(std::size_t driver) const { return all_[driver]; }
  /// One value for each episode of a driver, in the order of scenarios and seeds.
  template <typename Get>
  [[nodiscard]] std::vector<double> episodes(std::size_t driver, Get get) const {
    std::vector<double> values;
    for (const auto& [key, sum] : episodes_[driver]) values.push_back(get(sum));
    return values;
  }

 private:
  std::vector<DriveSum> all_;                             ///< [drivers]
  std::vector<std::map<EpisodeKey, DriveSum>> episodes_;  ///< [drivers]
};

double score_of(const DriveSum& sum) { return sum.mean_score(); }
/// The name of a driver in the tables. It tells a guarded driver from the same driver alone.
std::string shown_name(const std::string& driver) {
  if (!driver.starts_with(kGuarded)) return short_name(driver);
  return std::string(kGuarded) + short_name(driver.substr(kGuarded.size()));
}

double collisions_of(const DriveSum& sum) { return sum.per_km(sum.measures.collisions); }

}  // namespace

report::Table drive_table(const DriveEvaluationPlan& plan, const std::vector<DrivenEgo>& egos) {
  const DriveResults results(plan, egos);
  report::Table table({"driver", "score", "+-95%", "progress_%", "collisions/km", "at_fault/km",
                       "off_lane_%", "red_lights", "close_%", "uncomfortable_%", "lost", "arrived",
                       "egos"});
  for (std::size_t driver = 0; driver < plan.drivers.size(); ++driver) {
    const DriveSum& sum = results.all(driver);
    const auto score = report::mean_interval(results.episodes(driver, score_of));
    table.add_row({shown_name(plan.drivers[driver]), score.mean, score.half_width,
                   sum.progress_percent(), sum.per_km(sum.measures.collisions),
                   sum.per_km(sum.measures.faults), sum.time_percent(sum.measures.off_lane_s),
                   sum.measures.red_lights, sum.time_percent(sum.measures.close_s),
                   sum.time_percent(sum.measures.uncomfortable_s), sum.lost, sum.arrived,
                   sum.egos});
  }
  return table;
}

report::Table drive_differences(const DriveEvaluationPlan& plan,
                                const std::vector<DrivenEgo>& egos) {
  const DriveResults results(plan, egos);
  report::Table table({"driver", "against", "score", "score_+-95%", "collisions/km",
                       "collisions/km_+-95%", "pairs"});
  for (std::size_t a = 0; a < plan.drivers.size(); ++a) {
    for (std::size_t b = 0; b < a; ++b) {
      const auto difference = [&](auto get) {
        return report::mean_interval(
            report::paired_differences(results.episodes(a, get), results.episodes(b, get)));
      };
      const auto score = difference(score_of);
      const auto collisions = difference(collisions_of);
      table.add_row({shown_name(plan.drivers[a]), shown_name(plan.drivers[b]), score.mean,
                     score.half_width, collisions.mean, collisions.half_width, score.count});
    }
  }
  return table;
}

std::string drive_json(const DriveEvaluationPlan& plan, const std::vector<DrivenEgo>& egos) {
  using nlohmann::ordered_json;
  ordered_json all{
      {"scenarios", plan.scenarios},           {"seeds", plan.seeds},
      {"warm_up_s", plan.traffic.warm_up_s},   {"duration_s", plan.traffic.duration_s},
      {"egos_per_episode", plan.traffic.egos}, {"demand_scale", plan.traffic.demand_factor}};
  all["drivers"] = ordered_json::parse(drive_table(plan, egos).to_json());
  for (std::size_t driver = 0; driver < plan.drivers.size(); ++driver) {
    all["drivers"][driver]["driver"] = plan.drivers[driver];
  }
  all["differences"] = ordered_json::parse(drive_differences(plan, egos).to_json());
  ordered_json rows = ordered_json::array();
  for (const DrivenEgo& ego : egos) {
    ordered_json row{{"driver", plan.drivers[ego.driver]},
                     {"scenario", plan.scenarios[ego.scenario]},
                     {"seed", ego.seed},
                     {"vehicle", ego.name}};
    for (const DriveField& field : drive_fields()) row[field.name] = field.get(ego.measures);
    rows.push_back(std::move(row));
  }
  all["egos"] = std::move(rows);
  return all.dump(2) + "\n";
}

std::string drive_csv(const DriveEvaluationPlan& plan, const std::vector<DrivenEgo>& egos) {
  std::string text = "scenario,driver,seed,vehicle";
  for (const DriveField& field : drive_fields()) text += fmt::format(",{}", field.name);
  text += '\n';
  for (const DrivenEgo& ego : egos) {
    text += fmt::format("\"{}\",\"{}\",{},\"{}\"", plan.scenarios[ego.scenario],
                        plan.drivers[ego.driver], ego.seed, ego.name);
    for (const DriveField& field : drive_fields()) {
      text += fmt::format(",{}", field.get(ego.measures));
    }
    text += '\n';
  }
  return text;
}

}  // namespace traffic::train
