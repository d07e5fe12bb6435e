/// Makes the top of a report (html_report.h): a sentence with the result and the file to use, boxes
/// with gain, safety and duration, and a table of the controllers.
#pragma once

#include <string>
#include <vector>

#include "traffic/report/run_reader.h"

namespace traffic::report {

/// Returns the HTML.
/// @param parts the trainings of the run, or the run itself if it is a single training. The results
///   are those of the last training that was evaluated
/// @param has_ended see write_html_report()
/// @throws DataError if a file is damaged
std::string first_screen(const RunReader& run, const std::vector<RunReader>& parts, bool has_ended);

}  // namespace traffic::report
