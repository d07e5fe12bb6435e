/// Tables of text, read row by row: a header, then fields separated by commas, semicolons, tabs,
/// vertical bars or blanks.
#pragma once

#include <cstdint>
#include <initializer_list>
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
  /// Reads a table without a header. @param names of its columns, in their order
  CsvReader(TextInput& input, InputProblems& problems, std::vector<std::string> names);

  /// Reads the next row that has as many fields as the header; skips empty rows.
  /// @return false at the end
  bool next();
  [[nodiscard]] std::int64_t line() const { return line_; }
  [[nodiscard]] const std::string& file() const { return input_.name(); }
  /// Finds the column of the first of these names that the header has, whatever its case and
  /// underscores. A header may state the unit behind the name: "v_Vel [ft/s]".
  /// @param unit the unit that the format gives the column
  /// @return index of the column; -1 if there is none
  /// @throws DataError if the header states another unit, or has the name twice
  [[nodiscard]] int find(std::initializer_list<std::string_view> names,
                         std::string_view unit = "") const;
  /// Like find(), but the column must exist. @throws DataError also if it does not; the message
  /// lists the columns
  [[nodiscard]] int require(std::initializer_list<std::string_view> names,
                            std::string_view unit = "") const;
  /// A field of the row, without quotes; empty for column -1.
  [[nodiscard]] std::string_view text(int column) const;
  /// A field as a number with a decimal point. Commas may group its digits by three, as in
  /// "1,118,847.5". A table that has only numbers such as "13,500" is ambiguous and therefore an
  /// error. Reports a field that is no number and returns kUnknown; also returns kUnknown, without
  /// a report, for column -1 and, where `may_be_empty`, for an empty field.
  [[nodiscard]] double number(int column, bool may_be_empty = false);
  /// Like number(), but also reports a number that is not whole or is outside low .. high, and
  /// returns kUnknown.
  [[nodiscard]] double whole_number(int column, double low, double high);

 private:
  bool next_filled_line();
  bool next_line();
  void take_header();

  TextInput& input_;
  InputProblems& problems_;
  std::string buffer_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  bool at_end_ = false;
  std::int64_t line_ = 0;
  char separator_ = ',';
  bool first_row_read_ = false;  ///< row_ is the first row of a table without a header
  bool groups_digits_ = false;   ///< a number has shown that commas group digits
  std::string_view row_;
  std::vector<std::string_view> fields_;
  std::vector<std::string> header_;      ///< as in the file
  std::vector<std::string> normalised_;  ///< lower case, without underscores and units
  std::vector<std::string> units_;       ///< empty where the header states none
};

/// Lower case, without underscores, blanks and quotes: "v_Vel" and "vVel" are "vvel".
[[nodiscard]] std::string normalised_name(std::string_view name);

/// Refuses a table whose lines end with carriage returns alone, because it would be read as one
/// long header.
/// @throws DataError
void check_line_ends(const TextInput& input);

/// The separator of a row: the most frequent of comma, semicolon, tab and vertical bar; a blank if
/// it has none of them.
[[nodiscard]] char separator_of(std::string_view row);

/// The first row of a text that is not empty, without a byte order mark; empty if there is none.
[[nodiscard]] std::string_view first_row(std::string_view text);

/// The fields of a row, without quotes. @param separator a blank means one or more blanks
void split_row(std::string_view row, char separator, std::vector<std::string_view>& fields);

}  // namespace traffic::data_prep
