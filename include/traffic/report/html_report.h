/// Writes report.html: a self-contained page with the results and curves of a run.
#pragma once

#include "traffic/report/run_folder.h"

namespace traffic::report {

/// Writes the page from summary.json, evaluation.json and metrics.jsonl of the run and of its
/// trainings in folders below it. In place of a damaged file the page contains a note about the
/// damage.
/// @param has_ended true if the run's own process writes the report at its end, when it still holds
///   the lock of the folder
/// @throws DataError if it is not the folder of a run, ResourceError if the page cannot be written
void write_html_report(const RunFolder& folder, bool has_ended = false);

}  // namespace traffic::report
