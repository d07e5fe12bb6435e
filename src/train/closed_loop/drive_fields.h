/// The table of the metrics of an ego (driving::DriveMeasures) with their names in JSON and CSV.
#pragma once

#include <vector>

#include "traffic/driving/drive_measures.h"

namespace traffic::train {

/// A metric: its name, and functions that read and write it.
struct DriveField {
  const char* name;
  double (*get)(const driving::DriveMeasures&);
  void (*set)(driving::DriveMeasures&, double value);
};

/// All metrics, in the order of the JSON and the CSV.
const std::vector<DriveField>& drive_fields();

}  // namespace traffic::train
