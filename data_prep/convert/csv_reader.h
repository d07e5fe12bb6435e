/// Tables of text, row by row: a header, then fields parted by commas, semicolons or tabs.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "recording.h"
#include "text_input.h"

namespace traffic::data_prep {

class CsvReader {
 public:
  /// Reads the header. @throws DataError
  CsvReader(TextInput& input, InputProblems& problems);

  /// The next row that has as many fields as the header; rows without anything in them are passed
  /// over. @return false at the end
  bool next();
  [[nodiscard]] std::int64_t line() const { return line_; }
  [[nodiscard]] const std::string& file() const { return input_.name(); }
  /// Column of the first of these names; case and underscores do not matter. -1: there is none.
  [[nodiscard]] int find(std::initializer_list<std::string_view> names) const;
  /// The same. @throws DataError naming the columns there are
  [[nodiscard]] int require(std::initializer_list<std::string_view> names) const;
  /// A field of the row, without quotes; empty for column -1.
  [[nodiscard]] std::string_view text(int column) const;
  /// A field as a number; the digits may be grouped by commas. Reports what is none and returns
  /// kUnknown; also, without a report, for column -1 and, where `may_be_empty`, for nothing.
  [[nodiscard]] double number(int column, bool may_be_empty = false) const;

 private:
  bool next_line();
  void split();

  TextInput& input_;
  InputProblems& problems_;
  std::string buffer_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  bool at_end_ = false;
  std::int64_t line_ = 0;
  char separator_ = ',';
  std::string_view row_;
  std::vector<std::string_view> fields_;
  std::vector<std::string> header_;      ///< as it stands
  std::vector<std::string> normalised_;  ///< lower case, without underscores
};

/// Lower case, without underscores, blanks and quotes: "v_Vel" and "vVel" are "vvel".
[[nodiscard]] std::string normalised_name(std::string_view name);

}  // namespace traffic::data_prep
