/// Names that keys and tables had in earlier versions.
#pragma once

#include <string>
#include <string_view>

namespace traffic::config {

/// The present name of a key or table that earlier versions knew by another name; empty if there is
/// none.
/// @param key without the table of a phase: ppo.iterations, not phase2.ppo.iterations
std::string new_name_of(std::string_view key);

}  // namespace traffic::config
