/// A check of traffic_doctor: whether recorded traffic can be opened, and how fast it is read.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "traffic/config/config.h"
#include "traffic/train/doctor/doctor.h"

namespace traffic::train {

/// The recordings that a rank has found in data.files.
struct RecordingFacts {
  std::int64_t files = 0;
  std::int64_t train = 0;       ///< number of samples in the split for training
  std::int64_t validation = 0;  ///< number of samples in the split for validation
  std::int64_t test = 0;        ///< number of samples in the split for the final test
  double samples_per_s = 0.0;   ///< rate at which the reading threads of a rank prepare samples
  std::vector<std::string> skipped = {};  ///< messages about unreadable files
};

/// Opens the files and reads for a second or two, like a rank in training.
/// @throws DataError if the files cannot be used, ConfigError if settings of [data] are wrong
RecordingFacts measure_recordings(const config::Data& data, std::int64_t rank,
                                  std::int64_t num_ranks);

/// Fails if a split has no samples, and warns of unreadable files.
/// @param samples_per_s sum over all ranks, which read at the same time
Finding judge_recordings(const RecordingFacts& facts, const config::Data& data,
                         double samples_per_s);

}  // namespace traffic::train
