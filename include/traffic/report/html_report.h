/// report.html: one page with the results and the curves of a run, without other files.
#pragma once

#include "traffic/report/run_folder.h"

namespace traffic::report {

/// Puts together what the folder holds: summary.json, evaluation.json, metrics.jsonl, and the same
/// of the folders phase1 to phase3 below it. Lines and files that cannot be read are left out.
/// @throws ResourceError if the page cannot be written
void write_html_report(const RunFolder& folder);

}  // namespace traffic::report
