/// Table: rows and columns that a program prints as text or as JSON.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace traffic::report {

/// In the text, columns with numbers are aligned to the right and other columns to the left.
class Table {
 public:
  using Cell = std::variant<std::monostate, std::string, std::int64_t, double, bool>;

  explicit Table(std::vector<std::string> columns);
  /// @throws Error if the numbers of cells and columns differ
  void add_row(std::vector<Cell> cells);
  [[nodiscard]] std::size_t num_rows() const { return rows_.size(); }
  /// The header, a rule and the rows, each as one line. Real numbers have four significant digits.
  /// Empty cells and infinite numbers are "-".
  [[nodiscard]] std::string to_text() const;
  /// An array with one object per row. Empty cells and numbers that are not finite are null.
  [[nodiscard]] std::string to_json() const;

 private:
  std::vector<std::string> columns_;
  std::vector<std::vector<Cell>> rows_;
};

}  // namespace traffic::report
