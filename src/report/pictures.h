/// The main pictures of a report. The title of a picture states its message.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "traffic/report/run_reader.h"

namespace traffic::report {

/// The pictures of a run, or of one training of several, in the form and order in which
/// page/report.js draws them. Pictures whose data the run did not record are left out.
/// @throws DataError if a file is damaged
nlohmann::ordered_json pictures_of(const RunReader& run);

/// The rows of evaluation.json's controllers, scenario by scenario: {"scenario", "seeds",
/// "controllers", ...} each.
std::vector<nlohmann::ordered_json> evaluations_of(const RunReader& run);

}  // namespace traffic::report
