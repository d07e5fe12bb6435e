// Reads text tables row by row (csv_reader.h).
#include "csv_reader.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstring>
#include <utility>

#include "numbers.h"
#include "traffic/core/error.h"
#include "traffic/core/text.h"

namespace traffic::data_prep {
namespace {

constexpr std::size_t kCsvReadBytes = 1 << 18;
constexpr std::size_t kMaxLineBytes = 1 << 20;

std::string_view without_blanks(std::string_view field) {
  const auto is_blank = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
  while (!field.empty() && is_blank(field.front())) field.remove_prefix(1);
  while (!field.empty() && is_blank(field.back())) field.remove_suffix(1);
  return field;
}

std::string_view trimmed(std::string_view field) {
  field = without_blanks(field);
  if (field.size() >= 2 && field.front() == '"' && field.back() == '"') {
    field = field.substr(1, field.size() - 2);
  }
  return field;
}

/// Whether the digits of a number are in groups of three with commas, e.g. "-1,118,847.5".
bool has_grouped_digits(std::string_view text) {
  if (!text.empty() && (text.front() == '-' || text.front() == '+')) text.remove_prefix(1);
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  std::size_t in_group = 0;
  std::size_t groups = 0;
  std::size_t i = 0;
  for (; i < text.size() && (is_digit(text[i]) || text[i] == ','); ++i) {
    if (is_digit(text[i])) {
      ++in_group;
      continue;
    }
    if (groups == 0 ? in_group < 1 || in_group > 3 || text.front() == '0' : in_group != 3) {
      return false;
    }
    ++groups;
    in_group = 0;
  }
  const bool ends_well = i == text.size() || text[i] == '.';
  return groups > 0 && in_group == 3 && ends_well;
}

/// Splits "v_Vel [ft/s]" or "v_Vel (ft/s)" into the name and the unit.
std::pair<std::string_view, std::string_view> name_and_unit(std::string_view header) {
  const auto open = header.find_first_of("[(");
  if (open == std::string_view::npos || open == 0) return {header, ""};
  std::string_view unit = header.substr(open + 1);
  unit = unit.substr(0, unit.find_first_of("])"));
  return {header.substr(0, open), unit};
}

}  // namespace

void check_line_ends(const TextInput& input) {
  const std::string_view head = input.peek();
  if (head.find('\r') == std::string_view::npos || head.find('\n') != std::string_view::npos)
    return;
  throw DataError(
      "{}:1: the lines end with a carriage return alone, as old spreadsheets write them; expected "
      "line feeds (tr '\\r' '\\n' converts the file)",
      input.name());
}

std::string normalised_name(std::string_view name) {
  std::string out;
  for (const char c : trimmed(name)) {
    if (c == '_' || c == ' ') continue;
    out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return out;
}

std::string_view first_row(std::string_view text) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  const auto begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return "";
  text.remove_prefix(text.substr(0, begin).rfind('\n') + 1);
  return text.substr(0, text.find('\n'));
}

char separator_of(std::string_view row) {
  char separator = ' ';
  std::ptrdiff_t most = 0;
  for (const char candidate : {',', ';', '\t', '|'}) {
    const auto n = std::count(row.begin(), row.end(), candidate);
    if (n > most) separator = candidate;
    most = std::max(most, n);
  }
  return separator;
}

void split_row(std::string_view row, char separator, std::vector<std::string_view>& fields) {
  fields.clear();
  const bool blanks = separator == ' ';
  if (blanks) row = without_blanks(row);
  bool quoted = false;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= row.size(); ++i) {
    if (i < row.size() && row[i] == '"') quoted = !quoted;
    if (i < row.size() && (quoted || row[i] != separator)) continue;
    if (!blanks || i > begin) fields.push_back(trimmed(row.substr(begin, i - begin)));
    begin = i + 1;
  }
}

CsvReader::CsvReader(TextInput& input, InputProblems& problems)
    : input_(input), problems_(problems) {
  check_line_ends(input);
  if (!next_filled_line()) {
    throw DataError("{}: has no header; expected the names of columns", file());
  }
  separator_ = separator_of(row_);
  split_row(row_, separator_, fields_);
  header_.assign(fields_.begin(), fields_.end());
  take_header();
}

CsvReader::CsvReader(TextInput& input, InputProblems& problems, std::vector<std::string> names)
    : input_(input), problems_(problems), header_(std::move(names)) {
  check_line_ends(input);
  first_row_read_ = next_filled_line();
  separator_ = separator_of(row_);
  take_header();
}

void CsvReader::take_header() {
  for (const std::string& name : header_) {
    const auto [bare, unit] = name_and_unit(name);
    normalised_.push_back(normalised_name(bare));
    units_.push_back(normalised_name(unit));
  }
}

/// Reads lines until one is not empty, and removes a byte order mark.
/// @return false if there is no such line
bool CsvReader::next_filled_line() {
  while (next_line()) {
    row_ = first_row(row_);
    if (!row_.empty()) return true;
  }
  return false;
}

bool CsvReader::next_line() {
  while (true) {
    const char* from = buffer_.data() + begin_;
    const auto* found = static_cast<const char*>(std::memchr(from, '\n', end_ - begin_));
    if (found != nullptr || (at_end_ && begin_ < end_)) {
      const char* stop = found != nullptr ? found : buffer_.data() + end_;
      row_ = {from, static_cast<std::size_t>(stop - from)};
      begin_ = std::min(end_, begin_ + row_.size() + 1);
      ++line_;
      return true;
    }
    if (at_end_) return false;
    if (end_ - begin_ > kMaxLineBytes) {
      throw DataError("{}:{}: a line has more than {} bytes, so this is not a table", file(),
                      line_ + 1, kMaxLineBytes);
    }
    buffer_.erase(0, begin_);
    end_ -= begin_;
    begin_ = 0;
    buffer_.resize(end_ + kCsvReadBytes);
    const std::size_t n = input_.read(std::span(buffer_).subspan(end_));
    end_ += n;
    at_end_ = n == 0;
  }
}

bool CsvReader::next() {
  while (std::exchange(first_row_read_, false) || next_line()) {
    if (row_.find('\0') != std::string_view::npos) {
      problems_.report(file(), line_, "the row has bytes of value zero, so the file is damaged");
      continue;
    }
    split_row(row_, separator_, fields_);
    if (std::all_of(fields_.begin(), fields_.end(), [](auto field) { return field.empty(); })) {
      continue;
    }
    if (fields_.size() == header_.size()) return true;
    problems_.report(
        file(), line_,
        fmt::format("the row has {} fields, the header has {}", fields_.size(), header_.size()));
  }
  return false;
}

int CsvReader::find(std::initializer_list<std::string_view> names, std::string_view unit) const {
  for (const auto name : names) {
    const auto found = std::find(normalised_.begin(), normalised_.end(), normalised_name(name));
    if (found == normalised_.end()) continue;
    const auto column = static_cast<std::size_t>(found - normalised_.begin());
    if (std::find(found + 1, normalised_.end(), *found) != normalised_.end()) {
      throw DataError("{}:1: the header has the column '{}' twice; remove one of them", file(),
                      header_[column]);
    }
    const std::string& stated = units_[column];
    if (!stated.empty() && stated != normalised_name(unit)) {
      throw DataError(
          "{}:1: the header states a unit for the column '{}' that this program does not convert; "
          "expected {}",
          file(), header_[column], unit.empty() ? "a column without a unit" : unit);
    }
    return static_cast<int>(column);
  }
  return -1;
}

int CsvReader::require(std::initializer_list<std::string_view> names, std::string_view unit) const {
  const int column = find(names, unit);
  if (column >= 0) return column;
  constexpr std::size_t kMostShown = 40;
  std::vector<std::string> found;
  for (const std::string& name : header_) {
    if (found.size() < kMostShown) found.push_back(printable(name));
  }
  throw DataError("{}:1: there is no column {}; the columns are: {}", file(), *names.begin(),
                  fmt::join(found, ", "));
}

std::string_view CsvReader::text(int column) const {
  return column < 0 ? std::string_view() : fields_[static_cast<std::size_t>(column)];
}

double CsvReader::number(int column, bool may_be_empty) {
  const std::string_view field = text(column);
  if (column < 0 || (may_be_empty && field.empty())) return kUnknown;
  if (const auto value = parse_finite(field)) return *value;
  const auto commas = std::count(field.begin(), field.end(), ',');
  const bool may_group = has_grouped_digits(field);
  const bool must_group = may_group && (commas > 1 || field.find('.') != std::string_view::npos);
  groups_digits_ = groups_digits_ || must_group;
  if (may_group && groups_digits_) {
    std::string digits(field);
    std::erase(digits, ',');
    if (const auto value = parse_finite(digits)) return *value;
  }
  problems_.report(
      file(), line_,
      fmt::format("{} is '{}', expected a number{}", header_[static_cast<std::size_t>(column)],
                  field.substr(0, 40), commas > 0 ? " with a decimal point, not a comma" : ""));
  return kUnknown;
}

double CsvReader::whole_number(int column, double low, double high) {
  const double value = number(column);
  const bool is_sound = value >= low && value <= high && value == std::round(value);
  if (std::isnan(value) || is_sound) return value;
  problems_.report(file(), line_,
                   fmt::format("{} is {}, expected a whole number from {} to {}",
                               header_[static_cast<std::size_t>(column)], text(column), low, high));
  return kUnknown;
}

}  // namespace traffic::data_prep
