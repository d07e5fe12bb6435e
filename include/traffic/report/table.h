/// A table that can be printed as text and as JSON.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace traffic::report {

/// In text, columns of numbers are aligned to the right, others to the left.
class Table {
 public:
  using Cell = std::variant<std::monostate, std::string, std::int64_t, double, bool>;

  explicit Table(std::vector<std::string> columns);
  /// @throws Error if there are not as many cells as columns
  void add_row(std::vector<Cell> cells);
  [[nodiscard]] std::size_t num_rows() const { return rows_.size(); }
  /// Header, rule and rows, each ending in a newline. Reals have four significant digits; empty
  /// cells are "-".
  [[nodiscard]] std::string to_text() const;
  /// An array with one object per row; empty cells and reals that are not finite are null.
  [[nodiscard]] std::string to_json() const;

 private:
  std::vector<std::string> columns_;
  std::vector<std::vector<Cell>> rows_;
};

}  // namespace traffic::report
