/// The measures of a drive by name.
#pragma once

#include <vector>

#include "traffic/driving/drive_measures.h"

namespace traffic::train {

struct DriveField {
  const char* name;
  double (*get)(const driving::DriveMeasures&);
  void (*set)(driving::DriveMeasures&, double value);
};

/// All measures, in the order of the JSON and the CSV.
const std::vector<DriveField>& drive_fields();

}  // namespace traffic::train
