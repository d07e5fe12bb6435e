/// report.html: one page with the results and the curves of a run, without other files.
#pragma once

#include "traffic/report/run_folder.h"

namespace traffic::report {

/// Puts together what the folder holds: summary.json, evaluation.json, metrics.jsonl, and the same
/// of the trainings that have folders below it. In place of what is damaged stands what is wrong.
/// @param has_ended the process that holds the run writes its last report
/// @throws DataError if it is no folder of a run, ResourceError if the page cannot be written
void write_html_report(const RunFolder& folder, bool has_ended = false);

}  // namespace traffic::report
