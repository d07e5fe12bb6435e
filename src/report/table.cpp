#include "traffic/report/table.h"

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "traffic/core/error.h"

namespace traffic::report {
namespace {

bool is_number(const std::string& cell) {
  char* end = nullptr;
  std::strtod(cell.c_str(), &end);
  return !cell.empty() && *end == '\0';
}

}  // namespace

void Table::add_row(std::vector<std::string> cells) {
  TRAFFIC_CHECK(cells.size() == columns_.size(), "{} cells for {} columns", cells.size(),
                columns_.size());
  rows_.push_back(std::move(cells));
}

std::string Table::to_text() const {
  std::vector<std::size_t> widths;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    std::size_t width = columns_[c].size();
    for (const auto& row : rows_) width = std::max(width, row[c].size());
    widths.push_back(width);
  }
  std::string text;
  const auto append = [&](const std::vector<std::string>& cells, bool header) {
    std::string line;
    for (std::size_t c = 0; c < cells.size(); ++c) {
      const bool right = c > 0 && (header || is_number(cells[c]));
      line += right ? fmt::format("{:>{}}", cells[c], widths[c])
                    : fmt::format("{:<{}}", cells[c], widths[c]);
      line += "  ";
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + '\n';
  };
  append(columns_, true);
  std::vector<std::string> rule;
  for (const std::size_t width : widths) rule.emplace_back(width, '-');
  append(rule, false);
  for (const auto& row : rows_) append(row, false);
  return text;
}

nlohmann::json Table::to_json() const {
  nlohmann::json array = nlohmann::json::array();
  for (const auto& row : rows_) {
    nlohmann::json object = nlohmann::json::object();
    for (std::size_t c = 0; c < row.size(); ++c) {
      if (is_number(row[c])) {
        object[columns_[c]] = std::strtod(row[c].c_str(), nullptr);
      } else {
        object[columns_[c]] = row[c];
      }
    }
    array.push_back(std::move(object));
  }
  return array;
}

}  // namespace traffic::report
