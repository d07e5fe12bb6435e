/// report.html: one page with the results and the curves of a run, without other files.
#pragma once

#include "traffic/report/run_folder.h"

namespace traffic::report {

/// Writes the page from summary.json, evaluation.json and metrics.jsonl of the run and of the
/// trainings that have folders below it. A damaged file is replaced by a note about the damage.
/// @param has_ended whether the process that holds the run writes its last report
/// @throws DataError if it is no folder of a run, ResourceError if the page cannot be written
void write_html_report(const RunFolder& folder, bool has_ended = false);

}  // namespace traffic::report
