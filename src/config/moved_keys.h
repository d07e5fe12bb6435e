/// Finds the present names of keys and tables that were renamed. Messages about unknown keys use
/// it.
#pragma once

#include <string>
#include <string_view>

namespace traffic::config {

/// The present name of a key or table that had another name in earlier versions. The result is
/// empty for all other names.
/// @param key without the table of a phase: ppo.iterations, not phase2.ppo.iterations
std::string new_name_of(std::string_view key);

}  // namespace traffic::config
