// Makes replay.html, which plays recorded traffic on its road network.
#include "traffic/report/replay_page.h"

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string_view>

#include "traffic/core/text.h"
#include "web_page.h"

namespace traffic::report {

std::string replay_page(const nlohmann::ordered_json& replay) {
  const std::string scenario = replay.value("scenario", "");
  const auto seed = replay.value("seed", std::int64_t{0});
  return web_page({.title = fmt::format("Replay of {}, seed {}", scenario, seed),
                   .body = fmt::format("<h1>{}, seed {}</h1>\n{}", html_escaped(scenario), seed,
                                       page_file("replay.html")),
                   .data = replay.dump(),
                   .files = {"colours.js", "replay.js"}});
}

std::string controller_label(const std::string& name) {
  constexpr std::string_view kCheckpoint = "checkpoint:";
  if (!name.starts_with(kCheckpoint)) return name;
  return std::filesystem::path(name.substr(kCheckpoint.size())).stem().string();
}

}  // namespace traffic::report
