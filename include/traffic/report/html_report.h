/// Writes report.html: a page with the results and curves of a run, which needs no other file.
#pragma once

#include "traffic/report/run_folder.h"

namespace traffic::report {

/// Writes the page from summary.json, evaluation.json and metrics.jsonl in the run's folder. A run
/// of several trainings has a folder for each training below its own, with the same files. For a
/// damaged file the page contains a note about the damage.
/// @param has_ended true if the run's own process writes the report at its end. It then still holds
///   the lock of the folder, but the report must not say that the run is in progress
/// @throws DataError if `folder` is not the folder of a run
/// @throws ResourceError if the page cannot be written
void write_html_report(const RunFolder& folder, bool has_ended = false);

}  // namespace traffic::report
