/// The formats that recordings come in, one source file each.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "recording.h"
#include "text_input.h"

namespace traffic::data_prep {

/// What is in one INPUT of the command line.
struct RecordingFile {
  std::string path;        ///< "-": standard input
  std::string shown_path;  ///< for messages; empty: the path
};

/// SUMO's floating car data: <timestep time=".."><vehicle id=".." x=".." .../>
std::unique_ptr<Recording> read_fcd_xml(std::unique_ptr<TextInput> input, InputProblems& problems);
/// The same as a table: timestep_time;vehicle_id;vehicle_x;...
std::unique_ptr<Recording> read_fcd_csv(std::unique_ptr<TextInput> input, InputProblems& problems);
/// Chunks of JSON: a folder with metadata.json, that file, or a chunk.
/// docs/reference/recording-formats.md
std::unique_ptr<Recording> read_json(const std::string& path, std::unique_ptr<TextInput> input,
                                     InputProblems& problems);
/// NGSIM trajectories.
std::unique_ptr<Recording> read_ngsim(std::unique_ptr<TextInput> input, InputProblems& problems);
/// highD: ..._tracks.csv, with ..._tracksMeta.csv and ..._recordingMeta.csv beside it.
std::unique_ptr<Recording> read_highd(const std::string& path, std::unique_ptr<TextInput> input,
                                      InputProblems& problems);

/// "fcd", "json", "ngsim" or "highd"; "auto" guesses by the first bytes.
/// @throws ConfigError for another name; DataError if the content is none of them
std::unique_ptr<Recording> open_recording(const RecordingFile& file, const std::string& format,
                                          InputProblems& problems);

/// What SUMO writes as a vehicle's attributes, without checks: XML and CSV have the same names.
class FcdFields {
 public:
  FcdFields(const std::string& file, InputProblems& problems) : file_(file), problems_(problems) {}

  void begin(std::int64_t line);
  /// Names that are not needed are passed over.
  void set(std::string_view name, std::string_view value, RecordedFrame& frame);
  /// Appends the vehicle unless something is wrong, which is reported.
  void finish(RecordedFrame& frame);

 private:
  void set_number(double& to, std::string_view name, std::string_view value,
                  const RecordedFrame& frame);

  const std::string& file_;
  InputProblems& problems_;
  RecordedVehicle vehicle_;
  bool sound_ = true;
};

}  // namespace traffic::data_prep
