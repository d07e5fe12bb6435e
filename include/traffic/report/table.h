/// Small tables for people, and the same as JSON for programs.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace traffic::report {

/// Rows of cells under column titles. Cells that look like numbers are aligned to the right.
class Table {
 public:
  explicit Table(std::vector<std::string> columns) : columns_(std::move(columns)) {}
  /// @throws Error if the row has another number of cells than there are columns
  void add_row(std::vector<std::string> cells);
  /// Aligned text; every line ends with a newline.
  [[nodiscard]] std::string to_text() const;
  /// An array of objects, column title to cell; numbers as numbers.
  [[nodiscard]] nlohmann::json to_json() const;
  [[nodiscard]] std::size_t num_rows() const { return rows_.size(); }

 private:
  std::vector<std::string> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace traffic::report
