// CsvWriter: appends rows to a CSV file of a run, such as episodes.csv.
#include "traffic/report/csv_writer.h"

#include <fmt/format.h>

#include <charconv>

#include "append_file.h"
#include "line_filter.h"
#include "traffic/core/error.h"

namespace traffic::report {
namespace {

struct FieldVisitor {
  std::string operator()(std::int64_t value) const { return fmt::format("{}", value); }
  std::string operator()(double value) const { return fmt::format("{}", value); }
  std::string operator()(const std::string& text) const {
    if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
    std::string quoted = "\"";
    for (const char c : text) {
      if (c == '"') quoted += '"';
      quoted += c == '\n' || c == '\r' ? ' ' : c;  // so that a row is always one line
    }
    return quoted + "\"";
  }
};

std::string header(const std::vector<std::string>& columns) {
  std::string line = "step";
  for (const std::string& column : columns) {
    line += ',';
    line += FieldVisitor{}(column);
  }
  return line + "\n";
}

/// Whether a line is the header, or a row whose step is at most `last_step`.
bool is_header_or_row_up_to(std::string_view line, std::int64_t last_step) {
  if (line.starts_with("step")) return true;
  std::int64_t step = 0;
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), step);
  const bool is_row = error == std::errc() && (end == line.data() + line.size() || *end == ',');
  return is_row && step <= last_step;
}

}  // namespace

CsvWriter::CsvWriter(const std::filesystem::path& path, const std::vector<std::string>& columns,
                     std::optional<std::int64_t> resumed_step)
    : num_columns_(columns.size()) {
  if (resumed_step) {
    keep_lines(path,
               [&](std::string_view line) { return is_header_or_row_up_to(line, *resumed_step); });
  }
  file_ = std::make_unique<AppendFile>(path, header(columns));
}

CsvWriter::~CsvWriter() = default;
CsvWriter::CsvWriter(CsvWriter&&) noexcept = default;

void CsvWriter::write(std::int64_t step, const std::vector<Field>& fields) {
  TRAFFIC_CHECK(fields.size() == num_columns_,
                "a row has {} fields, expected {}, one for each column", fields.size(),
                num_columns_);
  std::string line = fmt::format("{}", step);
  for (const Field& field : fields) {
    line += ',';
    line += std::visit(FieldVisitor{}, field);
  }
  file_->append(line + "\n");
}

std::uint64_t CsvWriter::num_lost() const { return file_->num_lost(); }

}  // namespace traffic::report
