#include "traffic/train/run/training.h"

#include <map>

#include "traffic/core/error.h"

namespace traffic::train {
namespace {

using Makers = std::map<std::string_view, std::function<std::unique_ptr<Training>(Run&)>>;

Makers& makers() {
  static Makers all;
  return all;
}

}  // namespace

void register_trainings(const std::vector<TrainingRow>& rows) {
  for (const TrainingRow& row : rows) {
    config::register_training(row.facts);
    makers().emplace(row.facts.name, row.make);
  }
}

std::unique_ptr<Training> make_training(Run& run) { return makers().at(run.facts().name)(run); }

}  // namespace traffic::train
