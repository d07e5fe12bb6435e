// open_recording() of formats.h: guesses the format of a recording and opens it.
#include <filesystem>
#include <string>
#include <system_error>

#include "csv_reader.h"
#include "formats.h"
#include "traffic/core/error.h"

namespace traffic::data_prep {
namespace {

/// Guesses the format from the first bytes of a file; empty if it is unknown.
std::string guess(std::string_view head) {
  if (head.starts_with("\xEF\xBB\xBF")) head.remove_prefix(3);
  const auto first = head.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return "";
  head.remove_prefix(first);
  if (head.front() == '<') return "fcd";
  if (head.front() == '{') return "json";
  if (is_ngsim_without_header(head)) return "ngsim";
  const std::string header = normalised_name(first_row(head));
  const auto names = [&](std::string_view column) {
    return header.find(normalised_name(column)) != std::string::npos;
  };
  if (names("timestep_time") && names("vehicle_id")) return "fcd";
  if (names("Local_Y") && names("v_Vel")) return "ngsim";
  if (names("xVelocity") && names("laneId")) return "highd";
  return "";
}

}  // namespace

std::unique_ptr<Recording> open_recording(const RecordingFile& file, const std::string& format,
                                          InputProblems& problems) {
  std::error_code unreadable;  // TextInput reports the reason
  if (std::filesystem::is_directory(file.path, unreadable)) {
    if (format != "auto" && format != "json") {
      throw DataError("{}: is a folder; --from {} takes files", file.path, format);
    }
    return read_json(file.path, nullptr, problems);
  }
  auto input = std::make_unique<TextInput>(file.path, file.shown_path);
  const std::string found = guess(input->peek());
  const std::string chosen = format == "auto" ? found : format;
  if (chosen == "fcd") {
    const bool is_xml = input->peek().find('<') < input->peek().find(';');
    return is_xml ? read_fcd_xml(std::move(input), problems)
                  : read_fcd_csv(std::move(input), problems);
  }
  if (chosen == "json") return read_json(file.path, std::move(input), problems);
  if (chosen == "ngsim") return read_ngsim(std::move(input), problems);
  if (chosen == "highd") return read_highd(file.path, std::move(input), problems);
  if (format != "auto") {
    throw ConfigError("--from: found '{}', expected auto, fcd, json, ngsim or highd", format);
  }
  check_line_ends(*input);
  throw DataError(
      "{}:1: cannot guess the format from the first line; expected floating car data of SUMO (XML "
      "or CSV), chunks of JSON, NGSIM or highD tables with their headers; name the format with "
      "--from",
      input->name());
}

}  // namespace traffic::data_prep
