/// replay.html: a page that plays recorded traffic on its network, several controllers side by
/// side.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace traffic::report {

/// The page, which needs no other file.
/// @param replay the network, and the vehicles under each controller: see
/// docs/reference/run-folder.md
std::string replay_page(const nlohmann::ordered_json& replay);

/// The name of a controller for people: "none", or for a checkpoint the name of its file, "phase3".
std::string controller_label(const std::string& name);

}  // namespace traffic::report
