// The list of trainings with the facts that a configuration needs (trainings.h).
#include "traffic/config/trainings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "traffic/config/schema.h"
#include "traffic/core/error.h"
#include "traffic/core/text.h"

namespace traffic::config {
namespace {

constexpr std::string_view kAll = "all";

std::vector<TrainingFacts>& registered() {
  static std::vector<TrainingFacts> all;
  return all;
}

std::vector<std::string_view> split_at_commas(std::string_view text) {
  std::vector<std::string_view> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    std::string_view part = text.substr(begin, end - begin);
    while (part.starts_with(' ')) part.remove_prefix(1);
    while (part.ends_with(' ')) part.remove_suffix(1);
    parts.push_back(part);
    begin = end + 1;
  }
  return parts;
}

std::string expected_names(std::string_view found) {
  std::vector<std::string_view> names{kAll};
  for (const TrainingFacts& training : trainings()) {
    if (!training.number.empty()) names.push_back(training.number);
  }
  for (const TrainingFacts& training : trainings()) names.push_back(training.name);
  std::string text = fmt::format("expected one of {}, or several of them separated by commas",
                                 fmt::join(names, ", "));
  const auto near = nearest_name(found, names);
  if (near && found.size() > 1) text += fmt::format("; did you mean '{}'?", *near);
  return text;
}

/// The trainings that a text names, or the reason why the text is not allowed.
struct ReadPlan {
  std::vector<const TrainingFacts*> trainings;
  std::string problem;
};

ReadPlan read_plan(std::string_view text) {
  ReadPlan plan;
  if (text.empty()) {
    plan.trainings.push_back(&trainings().front());
    return plan;
  }
  if (text == kAll) {
    for (const TrainingFacts& training : trainings()) {
      if (!training.number.empty()) plan.trainings.push_back(&training);
    }
    return plan;
  }
  for (const std::string_view part : split_at_commas(text)) {
    const TrainingFacts* training = find_training(part);
    if (training == nullptr) return {{}, expected_names(part)};
    if (std::ranges::find(plan.trainings, training) != plan.trainings.end()) {
      return {{}, fmt::format("expected each training once, found {} twice", training->name)};
    }
    if (!plan.trainings.empty()) {
      const TrainingFacts& before = *plan.trainings.back();
      const auto& from = training->starts_from;
      if (std::ranges::find(from, before.name) == from.end()) {
        return {{},
                fmt::format(
                    "but {0} comes after {1} and cannot start from its checkpoint; {0} can "
                    "start from {2}",
                    training->name, before.name,
                    from.empty() ? "no other training" : fmt::format("{}", fmt::join(from, ", ")))};
      }
    }
    plan.trainings.push_back(training);
  }
  return plan;
}

}  // namespace

std::string TrainingFacts::title() const {
  return number.empty() ? fmt::format("training {}", name) : fmt::format("phase {}", number);
}

void register_training(TrainingFacts facts) {
  for (const TrainingFacts& other : registered()) {
    const bool differs = other.name != facts.name && other.folder != facts.folder &&
                         (facts.number.empty() || other.number != facts.number);
    TRAFFIC_CHECK(differs, "training {} has the same name, number or folder as training {}",
                  facts.name, other.name);
  }
  for (const Section& section : sections()) {
    TRAFFIC_CHECK(
        section.name != facts.folder,
        "training {}: its folder has the name {}, which is also a table of the configuration",
        facts.name, facts.folder);
  }
  registered().push_back(std::move(facts));
}

std::span<const TrainingFacts> trainings() { return registered(); }

const TrainingFacts* find_training(std::string_view name_or_number) {
  if (name_or_number.empty()) return nullptr;
  const auto all = trainings();
  const auto found = std::ranges::find_if(all, [&](const TrainingFacts& training) {
    return training.name == name_or_number || training.number == name_or_number;
  });
  return found == all.end() ? nullptr : &*found;
}

const TrainingFacts& get_training(std::string_view name_or_number) {
  if (name_or_number.empty() && !trainings().empty()) return trainings().front();
  const TrainingFacts* training = find_training(name_or_number);
  if (training != nullptr) return *training;
  throw ConfigError("run.phase: found '{}', {}", name_or_number, expected_names(name_or_number));
}

std::vector<const TrainingFacts*> plan_of(std::string_view text) {
  ReadPlan plan = read_plan(text);
  if (!plan.problem.empty()) throw ConfigError("run.phase: found '{}', {}", text, plan.problem);
  return std::move(plan.trainings);
}

std::string refuse_plan(std::string_view text) {
  return trainings().empty() ? std::string() : read_plan(text).problem;
}

}  // namespace traffic::config
