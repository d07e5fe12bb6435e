/// What a report says first: what was trained, what it is worth, whether it is safe, how long it
/// took.
#pragma once

#include <string>
#include <vector>

#include "traffic/report/run_reader.h"

namespace traffic::report {

/// HTML: a row of short answers, and the table of controllers.
/// @param parts the trainings of the run, or the run itself; the last that was evaluated counts
/// @throws DataError for files that are damaged
/// @param has_ended the process that holds the run is about to let go of it
std::string first_screen(const RunReader& run, const std::vector<RunReader>& parts, bool has_ended);

}  // namespace traffic::report
