#include "search/result.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "traffic/core/error.h"
#include "traffic/scene/score.h"

namespace traffic::train {
namespace {

using Json = nlohmann::ordered_json;

Json to_json(const TriedScript& script) {
  return {{"controller", script.controller},
          {"seeds", script.seeds},
          {"gain_%", script.gain},
          {"+-95%", script.half_width},
          {"ocr_gain_%", script.ocr_gain},
          {"delay_gain_%", script.delay_gain},
          {"safety_excess", script.safety_excess},
          {"more_hard_brakes", script.hard_brakes},
          {"controlled_s", script.controlled_s}};
}

TriedScript script_from(const Json& json) {
  return {.controller = json.at("controller"),
          .seeds = json.at("seeds"),
          .gain = json.at("gain_%"),
          .half_width = json.at("+-95%").is_null() ? std::numeric_limits<double>::infinity()
                                                   : json.at("+-95%").get<double>(),
          .ocr_gain = json.at("ocr_gain_%"),
          .delay_gain = json.at("delay_gain_%"),
          .safety_excess = json.at("safety_excess"),
          .hard_brakes = json.at("more_hard_brakes"),
          .controlled_s = json.at("controlled_s")};
}

Json list_of(const std::vector<TriedScript>& scripts) {
  Json list = Json::array();
  for (const TriedScript& script : scripts) list.push_back(to_json(script));
  return list;
}

std::vector<TriedScript> scripts_from(const Json& list) {
  std::vector<TriedScript> scripts;
  for (const Json& one : list) scripts.push_back(script_from(one));
  return scripts;
}

}  // namespace

double TriedScript::standard_error() const {
  return seeds < 2 ? half_width : half_width / report::student_t_two_sided(0.95, seeds - 1);
}

const TriedScript* ScenarioSearch::found() const {
  const auto one = std::ranges::find_if(
      finalists, [&](const TriedScript& script) { return script.controller == best; });
  return one == finalists.end() ? nullptr : &*one;
}

const TriedScript* ScenarioSearch::unsafe_but_better() const {
  const TriedScript* unsafe = nullptr;
  for (const auto* scripts : {&finalists, &tried}) {
    for (const TriedScript& script : *scripts) {
      const bool gains = !script.is_safe() && script.low() > 0.0;
      if (gains && (unsafe == nullptr || script.gain > unsafe->gain)) unsafe = &script;
    }
  }
  const TriedScript* safe = found();
  const bool is_better = unsafe != nullptr && (safe == nullptr || unsafe->low() > safe->gain);
  return is_better ? unsafe : nullptr;
}

double ScenarioSearch::whole_controlled_s(const TriedScript& script) const {
  return is_whole() ? script.controlled_s : script.controlled_s * episode_s / piece_s;
}

report::Table search_table(const ScenarioSearch& search) {
  report::Table table({"controller", "seeds", "gain_%", "+-95%", "ocr_%", "delay_%", "unsafe",
                       "brakes", "controlled_s", ""});
  const auto add = [&](const TriedScript& script, const std::string& remark) {
    table.add_row({script.controller, script.seeds, script.gain, script.half_width, script.ocr_gain,
                   script.delay_gain, script.safety_excess, script.hard_brakes, script.controlled_s,
                   remark});
  };
  for (const TriedScript& script : search.finalists) {
    add(script, script.controller == search.best ? "final, chosen" : "final");
  }
  for (const TriedScript& script : search.tried) add(script, "");
  return table;
}

std::string compared_part(const ScenarioSearch& search) {
  if (search.is_whole()) return "whole episodes";
  const std::string from =
      fmt::format("the first {:.0f} of {:.0f} s of episodes", search.covered_s(), search.episode_s);
  if (search.pieces == 1) return from;
  return fmt::format("{} pieces of {:.0f} s from {}", search.pieces, search.piece_s, from);
}

std::string search_text(const SearchResult& result, const ScenarioSearch& search) {
  const auto objective = scene::name_of(scene::objective_of(result.objective));
  const std::string uncontrolled = fmt::format(
      "{} ({}without control {:.3f} of the demand gets through, delay {:.0f} s)", search.scenario,
      search.is_whole() ? "" : fmt::format("compared in {}; ", compared_part(search)),
      search.ocr_all, search.delay_s);
  if (const TriedScript* found = search.found()) {
    return fmt::format(
        "{}: {} gains {:+.2f} +- {:.2f} % of {} on the {} seeds of the final comparison",
        uncontrolled, found->controller, found->gain, found->half_width, objective, found->seeds);
  }
  const bool any_unsafe = std::ranges::any_of(
      search.finalists, [](const TriedScript& script) { return !script.is_safe(); });
  return fmt::format(
      "{}: no script{} has a gain in {} whose 95 % interval lies above 0; the training begins "
      "without a script",
      uncontrolled, any_unsafe ? " that is as safe as no control (evaluation.safety_limit)" : "",
      objective);
}

Json to_json(const SearchResult& result) {
  Json json{
      {"key", result.key},         {"objective", result.objective}, {"episodes", result.episodes},
      {"seconds", result.seconds}, {"episode_s", result.episode_s}, {"scenarios", Json::array()}};
  for (const ScenarioSearch& search : result.scenarios) {
    json["scenarios"].push_back({{"scenario", search.scenario},
                                 {"ocr_all", search.ocr_all},
                                 {"delay_s", search.delay_s},
                                 {"saturated", search.saturated},
                                 {"piece_s", search.piece_s},
                                 {"pieces", search.pieces},
                                 {"episode_s", search.episode_s},
                                 {"best", search.best},
                                 {"finalists", list_of(search.finalists)},
                                 {"tried", list_of(search.tried)}});
  }
  return json;
}

SearchResult search_result_from(const Json& json) {
  try {
    SearchResult result{.key = json.at("key"),
                        .objective = json.at("objective"),
                        .episodes = json.at("episodes"),
                        .seconds = json.at("seconds"),
                        .episode_s = json.at("episode_s")};
    for (const Json& one : json.at("scenarios")) {
      result.scenarios.push_back({.scenario = one.at("scenario"),
                                  .ocr_all = one.at("ocr_all"),
                                  .delay_s = one.at("delay_s"),
                                  .saturated = one.at("saturated"),
                                  .piece_s = one.value("piece_s", 0.0),
                                  .pieces = one.value("pieces", std::int64_t{0}),
                                  .episode_s = one.value("episode_s", 0.0),
                                  .tried = scripts_from(one.at("tried")),
                                  .finalists = scripts_from(one.at("finalists")),
                                  .best = one.at("best")});
    }
    return result;
  } catch (const Json::exception& error) {
    throw DataError("not a result of a search: {}", error.what());
  }
}

}  // namespace traffic::train
