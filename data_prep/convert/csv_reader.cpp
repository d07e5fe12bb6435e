#include "csv_reader.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

#include "numbers.h"
#include "traffic/core/error.h"

namespace traffic::data_prep {
namespace {

constexpr std::size_t kCsvReadBytes = 1 << 18;
constexpr std::size_t kMaxLineBytes = 1 << 20;

std::string_view trimmed(std::string_view field) {
  const auto is_blank = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
  while (!field.empty() && is_blank(field.front())) field.remove_prefix(1);
  while (!field.empty() && is_blank(field.back())) field.remove_suffix(1);
  if (field.size() >= 2 && field.front() == '"' && field.back() == '"') {
    field = field.substr(1, field.size() - 2);
  }
  return field;
}

}  // namespace

std::string normalised_name(std::string_view name) {
  std::string out;
  for (const char c : trimmed(name)) {
    if (c == '_' || c == ' ') continue;
    out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return out;
}

CsvReader::CsvReader(TextInput& input, InputProblems& problems)
    : input_(input), problems_(problems) {
  if (!next_line()) throw DataError("{}: has no header; expected the names of columns", file());
  if (row_.starts_with("\xEF\xBB\xBF")) row_.remove_prefix(3);
  std::ptrdiff_t most = 0;
  for (const char candidate : {',', ';', '\t'}) {
    const auto n = std::count(row_.begin(), row_.end(), candidate);
    if (n > most) separator_ = candidate;
    most = std::max(most, n);
  }
  split();
  for (const auto name : fields_) {
    header_.emplace_back(name);
    normalised_.push_back(normalised_name(name));
  }
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
      throw DataError("{}:{}: a line of more than {} bytes; this is no table", file(), line_ + 1,
                      kMaxLineBytes);
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

void CsvReader::split() {
  fields_.clear();
  bool quoted = false;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= row_.size(); ++i) {
    if (i < row_.size() && row_[i] == '"') quoted = !quoted;
    if (i < row_.size() && (quoted || row_[i] != separator_)) continue;
    fields_.push_back(trimmed(row_.substr(begin, i - begin)));
    begin = i + 1;
  }
}

bool CsvReader::next() {
  while (next_line()) {
    split();
    if (std::all_of(fields_.begin(), fields_.end(), [](auto field) { return field.empty(); })) {
      continue;
    }
    if (fields_.size() == header_.size()) return true;
    problems_.report(
        file(), line_,
        fmt::format("the row has {} fields, the header {}", fields_.size(), header_.size()));
  }
  return false;
}

int CsvReader::find(std::initializer_list<std::string_view> names) const {
  for (const auto name : names) {
    const auto found = std::find(normalised_.begin(), normalised_.end(), normalised_name(name));
    if (found != normalised_.end()) return static_cast<int>(found - normalised_.begin());
  }
  return -1;
}

int CsvReader::require(std::initializer_list<std::string_view> names) const {
  const int column = find(names);
  if (column >= 0) return column;
  throw DataError("{}:1: there is no column {}; found: {}", file(), *names.begin(),
                  fmt::join(header_, ", "));
}

std::string_view CsvReader::text(int column) const {
  return column < 0 ? std::string_view() : fields_[static_cast<std::size_t>(column)];
}

double CsvReader::number(int column, bool may_be_empty) const {
  const std::string_view field = text(column);
  if (column < 0 || (may_be_empty && field.empty())) return kUnknown;
  if (const auto value = parse_finite(field)) return *value;
  if (field.find(',') != std::string_view::npos) {
    std::string digits(field);
    std::erase(digits, ',');
    if (const auto value = parse_finite(digits)) return *value;
  }
  problems_.report(file(), line_,
                   fmt::format("{} is '{}', expected a number",
                               header_[static_cast<std::size_t>(column)], field.substr(0, 40)));
  return kUnknown;
}

}  // namespace traffic::data_prep
