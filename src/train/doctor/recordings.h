/// Whether recorded traffic can be opened, and how fast it comes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "traffic/config/config.h"
#include "traffic/train/doctor/doctor.h"

namespace traffic::train {

/// What a rank found in data.files.
struct RecordingFacts {
  std::int64_t files = 0;
  std::int64_t train = 0;  ///< samples
  std::int64_t validation = 0;
  std::int64_t test = 0;
  double samples_per_s = 0.0;  ///< that its reading threads make ready
  std::vector<std::string> skipped = {};
};

/// Opens the files and reads for a second or two, as a rank of a training would.
/// @throws DataError, ConfigError
RecordingFacts measure_recordings(const config::Data& data, std::int64_t rank,
                                  std::int64_t num_ranks);

/// @param samples_per_s of all ranks, reading at the same time
Finding judge_recordings(const RecordingFacts& facts, const config::Data& data,
                         double samples_per_s);

}  // namespace traffic::train
