/// convert_to_scenes() converts recordings on a road network into scenes for driving policies.
#pragma once

#include <string>
#include <vector>

#include "conversion.h"

namespace traffic::data_prep {

/// Does the same as convert_recordings(), but makes scenes instead of graphs. convert_recordings()
/// calls it if options.scenes is set.
[[nodiscard]] std::vector<ConvertedInput> convert_to_scenes(const ConvertOptions& options,
                                                            const std::string& command_line);

}  // namespace traffic::data_prep
