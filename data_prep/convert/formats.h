/// The formats of recordings that data_prep convert reads: functions that open a recording of each
/// format. Each format has a source file of its own.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "recording.h"
#include "text_input.h"

namespace traffic::data_prep {

/// One INPUT of the command line.
struct RecordingFile {
  std::string path;        ///< "-" means the standard input
  std::string shown_path;  ///< name for messages; empty means `path`
};

/// Floating car data (positions of vehicles) of SUMO as XML:
/// <timestep time=".."><vehicle id=".." x=".." .../>
std::unique_ptr<Recording> read_fcd_xml(std::unique_ptr<TextInput> input, InputProblems& problems);
/// Floating car data of SUMO as a table: timestep_time;vehicle_id;vehicle_x;...
std::unique_ptr<Recording> read_fcd_csv(std::unique_ptr<TextInput> input, InputProblems& problems);
/// Chunks of JSON (docs/reference/recording-formats.md).
/// @param path a folder with a file metadata.json, the file metadata.json, or a single chunk
std::unique_ptr<Recording> read_json(const std::string& path, std::unique_ptr<TextInput> input,
                                     InputProblems& problems);
/// Whether a file begins like a table of NGSIM (recordings of US roads) without a header. The first
/// row then has 18, 24 or 25 fields, and the first 14 fields are numbers.
/// @param head the first bytes of the file
[[nodiscard]] bool is_ngsim_without_header(std::string_view head);
/// A table of NGSIM, with or without a header.
std::unique_ptr<Recording> read_ngsim(std::unique_ptr<TextInput> input, InputProblems& problems);
/// A recording of highD (German motorways): the file NN_tracks.csv. NN_tracksMeta.csv and
/// NN_recordingMeta.csv must be in the same folder.
std::unique_ptr<Recording> read_highd(const std::string& path, std::unique_ptr<TextInput> input,
                                      InputProblems& problems);

/// Opens a recording.
/// @param format "fcd", "json", "ngsim" or "highd"; "auto" guesses the format from the first bytes
/// @throws ConfigError for another format
/// @throws DataError if "auto" does not recognise the content. Also if the path is a folder and the
///   format is neither "auto" nor "json"
std::unique_ptr<Recording> open_recording(const RecordingFile& file, const std::string& format,
                                          InputProblems& problems);

/// Collects the attributes of a vehicle in floating car data, for the readers of XML and of tables.
/// The names are those of the XML attributes. In tables they have the prefix vehicle_, which
/// read_fcd_csv() removes.
class FcdFields {
 public:
  FcdFields(const std::string& file, InputProblems& problems) : file_(file), problems_(problems) {}

  /// Begins a vehicle, which the file describes in this line.
  void begin(std::int64_t line);
  /// Sets an attribute. Ignores names that are not needed.
  void set(std::string_view name, std::string_view value, RecordedFrame& frame);
  /// Appends the vehicle to the frame, or reports its errors.
  void finish(RecordedFrame& frame);

 private:
  void set_number(double& to, std::string_view name, std::string_view value,
                  const RecordedFrame& frame);

  const std::string& file_;
  InputProblems& problems_;
  RecordedVehicle vehicle_;
  bool on_edge_ = false;  ///< whether the vehicle has the attribute edge
  bool sound_ = true;     ///< false after an error was found in the attributes of the vehicle
};

}  // namespace traffic::data_prep
