/// Makes replay.html: a page that plays recorded traffic on its network, under several controllers
/// side by side.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace traffic::report {

/// The HTML of the page, which needs no other file.
/// @param replay the network, and the vehicles under each controller, in the format that
///   docs/reference/run-folder.md describes
std::string replay_page(const nlohmann::ordered_json& replay);

/// The name of a controller for display: that of a script, such as "none", or for a checkpoint the
/// name of its file, such as "phase3".
std::string controller_label(const std::string& name);

}  // namespace traffic::report
