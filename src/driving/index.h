/// Converts an index of a lane, edge or link of a road map to the type of subscripts.
#pragma once

#include <cstddef>
#include <cstdint>

namespace traffic::driving {

inline std::size_t as_index(std::int32_t index) { return static_cast<std::size_t>(index); }

}  // namespace traffic::driving
