/// The formats of recordings. Each has a source file of its own.
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
  std::string path;        ///< "-": standard input
  std::string shown_path;  ///< for messages; empty: the path
};

/// Floating car data of SUMO: <timestep time=".."><vehicle id=".." x=".." .../>
std::unique_ptr<Recording> read_fcd_xml(std::unique_ptr<TextInput> input, InputProblems& problems);
/// Floating car data of SUMO as a table: timestep_time;vehicle_id;vehicle_x;...
std::unique_ptr<Recording> read_fcd_csv(std::unique_ptr<TextInput> input, InputProblems& problems);
/// Chunks of JSON (docs/reference/recording-formats.md).
/// @param path a folder with a file metadata.json, the file metadata.json, or a single chunk
std::unique_ptr<Recording> read_json(const std::string& path, std::unique_ptr<TextInput> input,
                                     InputProblems& problems);
/// Whether the file begins like a table of NGSIM without a header: with a row of 18, 24 or 25
/// fields, the first 14 of them numbers.
[[nodiscard]] bool is_ngsim_without_header(std::string_view head);
/// Trajectories of NGSIM, with or without a header.
std::unique_ptr<Recording> read_ngsim(std::unique_ptr<TextInput> input, InputProblems& problems);
/// highD: ..._tracks.csv, with ..._tracksMeta.csv and ..._recordingMeta.csv beside it.
std::unique_ptr<Recording> read_highd(const std::string& path, std::unique_ptr<TextInput> input,
                                      InputProblems& problems);

/// Opens a recording of the format "fcd", "json", "ngsim" or "highd"; "auto" guesses the format
/// from the first bytes.
/// @throws ConfigError if the format has another name; DataError if "auto" does not recognise the
///   content, or if the path is a folder and the format neither "auto" nor "json"
std::unique_ptr<Recording> open_recording(const RecordingFile& file, const std::string& format,
                                          InputProblems& problems);

/// Collects the attributes of a vehicle in floating car data. Their names are those of XML; the
/// columns of tables have the prefix vehicle_, which read_fcd_csv removes.
class FcdFields {
 public:
  FcdFields(const std::string& file, InputProblems& problems) : file_(file), problems_(problems) {}

  void begin(std::int64_t line);
  /// Ignores names that are not needed.
  void set(std::string_view name, std::string_view value, RecordedFrame& frame);
  /// Appends the vehicle to the frame, or reports its errors.
  void finish(RecordedFrame& frame);

 private:
  void set_number(double& to, std::string_view name, std::string_view value,
                  const RecordedFrame& frame);

  const std::string& file_;
  InputProblems& problems_;
  RecordedVehicle vehicle_;
  bool on_edge_ = false;
  bool sound_ = true;
};

}  // namespace traffic::data_prep
