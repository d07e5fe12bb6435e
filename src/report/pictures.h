/// The main pictures of a report. The title of each states its message.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "traffic/report/run_reader.h"

namespace traffic::report {

/// Of a run, or of one training of several: what page/report.js draws, in order. Of what the run
/// did not record there is no picture.
/// @throws DataError for files that are damaged
nlohmann::ordered_json pictures_of(const RunReader& run);

/// The rows of evaluation.json's controllers, scenario by scenario: {"scenario", "seeds",
/// "controllers", ...} each.
std::vector<nlohmann::ordered_json> evaluations_of(const RunReader& run);

}  // namespace traffic::report
