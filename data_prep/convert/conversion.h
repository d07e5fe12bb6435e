/// convert_recordings() converts recorded traffic into data sets. convert.cpp, which implements the
/// command data_prep convert, calls it.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "traffic/data/format.h"

namespace traffic::data_prep {

/// The options of the command line; `data_prep convert --help` explains them.
struct ConvertOptions {
  std::vector<std::string> inputs;  ///< "-" means the standard input
  std::string out;      ///< a file NAME.h5 for all inputs, or a folder with a file for each input
  bool scenes = false;  ///< make scenes for driving policies instead of graphs
  std::string from = "auto";
  std::string network;  ///< .net.xml; empty: compute only features that need no network
  std::vector<std::string> cv_types{"cv"};
  double vehicle_length_m = 5.0;
  double vehicle_width_m = 1.8;   ///< used only in scenes
  std::int64_t record_every = 1;  ///< every how many-th time step of the recording becomes a frame
  double episode_s = -1;          ///< 0 means whole recordings; negative means 300 s if there are
                                  ///< fewer than three inputs, and otherwise whole recordings
  std::string split = "0.8,0.1,0.1";
  std::uint64_t seed = 1;
  std::string on_error = "fail";
  bool float16 = false;
  int compression_level = 1;
  bool force = false;
  bool json = false;
};

/// The result of converting one input.
struct ConvertedInput {
  std::string input;
  std::string file;
  std::int64_t episodes = 0;
  std::int64_t frames = 0;
  std::int64_t gaps = 0;  ///< number of gaps in the times
  /// Number of times that a vehicle was at a place that it cannot have driven to.
  std::int64_t jumps = 0;
  std::int64_t vehicles = 0;      ///< number of distinct vehicles
  std::int64_t vehicle_rows = 0;  ///< number of vehicles of a frame, summed over all written frames
  std::array<std::int64_t, data::kNumSplits> splits{};  ///< episodes of each split
  std::int64_t skipped = 0;                             ///< number of skipped problems
  std::vector<std::string> skipped_examples{};          ///< messages of the first skipped problems
  std::vector<std::string> missing{};  ///< features that the input does not contain
  std::string remark{};                ///< see Recording::remark()
};

/// Converts the inputs one after the other. An output file gets its name when it is complete.
/// @throws DataError with file and line if an input is damaged
/// @throws ConfigError if the options are wrong or an output file exists
/// @throws ResourceError if a file cannot be written
/// @throws Error when a stop is requested
[[nodiscard]] std::vector<ConvertedInput> convert_recordings(const ConvertOptions& options,
                                                             const std::string& command_line);

}  // namespace traffic::data_prep
