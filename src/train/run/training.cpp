#include "traffic/train/run/training.h"

#include <algorithm>

#include "traffic/core/error.h"

namespace traffic::train {
namespace {

std::vector<TrainingRow>& registered() {
  static std::vector<TrainingRow> rows;
  return rows;
}

const TrainingRow& row_of(const config::TrainingFacts& facts) {
  const auto& rows = registered();
  const auto row = std::ranges::find_if(
      rows, [&](const TrainingRow& one) { return one.facts.name == facts.name; });
  TRAFFIC_CHECK(row != rows.end(), "training {} is not registered", facts.name);
  return *row;
}

}  // namespace

void register_trainings(const std::vector<TrainingRow>& rows) {
  for (const TrainingRow& row : rows) {
    for (const config::OwnSection& own : row.own_sections)
      config::register_section(own.section, own.rows);
    config::register_training(row.facts);
    registered().push_back(row);
  }
}

TrainingEnd prepare(const Preparation& preparation) {
  const TrainingRow& row = row_of(config::get_training(preparation.config.run.phase));
  return row.prepare ? row.prepare(preparation) : TrainingEnd::kDone;
}

void check_new(const config::Config& config) {
  const TrainingRow& row = row_of(config::get_training(config.run.phase));
  if (row.check_new) row.check_new(config);
}

std::unique_ptr<Training> make_training(Run& run) { return row_of(run.facts()).make(run); }

}  // namespace traffic::train
