/// The top of a report: the result and the file to use, then the trainings with their gain, their
/// safety and their duration.
#pragma once

#include <string>
#include <vector>

#include "traffic/report/run_reader.h"

namespace traffic::report {

/// HTML with a sentence, a row of short answers, and the table of controllers.
/// @param parts the trainings of the run, or the run itself; the last one that was evaluated counts
/// @param has_ended as in write_html_report()
/// @throws DataError if a file is damaged
std::string first_screen(const RunReader& run, const std::vector<RunReader>& parts, bool has_ended);

}  // namespace traffic::report
