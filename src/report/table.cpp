// Table: prints rows and columns as text or as JSON.
#include "traffic/report/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "traffic/core/error.h"

namespace traffic::report {
namespace {

struct TextVisitor {
  std::string operator()(std::monostate) const { return "-"; }
  std::string operator()(const std::string& text) const { return text; }
  std::string operator()(std::int64_t value) const { return fmt::format("{}", value); }
  /// An infinite value, such as the confidence interval of a single value, becomes "-".
  std::string operator()(double value) const {
    return std::isinf(value) ? "-" : fmt::format("{:.4g}", value);
  }
  std::string operator()(bool value) const { return value ? "yes" : "no"; }
};

struct JsonVisitor {
  nlohmann::ordered_json operator()(std::monostate) const { return nullptr; }
  template <typename T>
  nlohmann::ordered_json operator()(const T& value) const {
    return value;  // JSON writes reals that are not finite as null
  }
};

bool is_number(const Table::Cell& cell) {
  return std::holds_alternative<std::int64_t>(cell) || std::holds_alternative<double>(cell);
}

/// Number of characters (not bytes) of a UTF-8 text.
std::size_t width_of(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
}

void append_padded(std::string& line, const std::string& text, std::size_t width, bool right) {
  const std::string padding(width - width_of(text), ' ');
  if (!line.empty()) line += "  ";
  line += right ? padding + text : text + padding;
}

void finish_line(std::string& out, std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  out += line + "\n";
}

}  // namespace

Table::Table(std::vector<std::string> columns) : columns_(std::move(columns)) {}

void Table::add_row(std::vector<Cell> cells) {
  TRAFFIC_CHECK(cells.size() == columns_.size(),
                "a row has {} cells, expected {}, one for each column", cells.size(),
                columns_.size());
  rows_.push_back(std::move(cells));
}

std::string Table::to_text() const {
  std::vector<std::size_t> widths;
  std::vector<bool> right;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    std::size_t width = width_of(columns_[c]);
    bool numbers = false;
    for (const auto& row : rows_) {
      width = std::max(width, width_of(std::visit(TextVisitor{}, row[c])));
      numbers = numbers || is_number(row[c]);
    }
    widths.push_back(width);
    right.push_back(numbers);
  }
  std::string out;
  std::string header;
  std::string rule;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    append_padded(header, columns_[c], widths[c], right[c]);
    append_padded(rule, std::string(widths[c], '-'), widths[c], false);
  }
  finish_line(out, header);
  finish_line(out, rule);
  for (const auto& row : rows_) {
    std::string line;
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      append_padded(line, std::visit(TextVisitor{}, row[c]), widths[c], right[c]);
    }
    finish_line(out, line);
  }
  return out;
}

std::string Table::to_json() const {
  auto rows = nlohmann::ordered_json::array();
  for (const auto& row : rows_) {
    auto object = nlohmann::ordered_json::object();
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      object[columns_[c]] = std::visit(JsonVisitor{}, row[c]);
    }
    rows.push_back(std::move(object));
  }
  return rows.dump(2) + "\n";
}

}  // namespace traffic::report
