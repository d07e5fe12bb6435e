/// Makes the main pictures of a report (html_report.h) as JSON that page/report.js draws. The title
/// of a picture states its message.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "traffic/report/run_reader.h"

namespace traffic::report {

/// The pictures of one training, in the order in which the page shows them. Pictures whose data the
/// run did not record are missing.
/// @param run a run of one training, or one training in a run of several
/// @throws DataError if a file is damaged
nlohmann::ordered_json pictures_of(const RunReader& run);

/// The evaluations in evaluation.json, one for each scenario: {"scenario", "seeds", "controllers",
/// ...}. The array "controllers" has one row per controller. Empty if the file does not exist.
std::vector<nlohmann::ordered_json> evaluations_of(const RunReader& run);

}  // namespace traffic::report
