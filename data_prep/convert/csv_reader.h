/// CsvReader reads a text table row by row, for the readers of recordings in CSV formats. A table
/// has a header and then rows with fields, separated by commas, semicolons, tabs, vertical bars or
/// blanks.
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
  /// Opens a table and reads its header.
  /// @throws DataError if the input has no header
  CsvReader(TextInput& input, InputProblems& problems);
  /// Opens a table without a header.
  /// @param names names of the columns, in their order
  CsvReader(TextInput& input, InputProblems& problems, std::vector<std::string> names);

  /// Reads the next row. Skips empty rows. Reports rows that do not have as many fields as the
  /// header and skips them.
  /// @return false at the end of the table
  bool next();
  [[nodiscard]] std::int64_t line() const { return line_; }
  [[nodiscard]] const std::string& file() const { return input_.name(); }
  /// Finds a column that may have several names: the column of the first of `names` that the header
  /// has. Case, underscores and blanks do not matter. A header may state the unit after the name,
  /// e.g. "v_Vel [ft/s]".
  /// @param unit the unit that the format prescribes for the column
  /// @return index of the column; -1 if there is none
  /// @throws DataError if the header states another unit, or has the name twice
  [[nodiscard]] int find(std::initializer_list<std::string_view> names,
                         std::string_view unit = "") const;
  /// Does the same as find(), but the column must exist.
  /// @throws DataError in the same cases as find(), and if the table has none of these columns; the
  ///   message then lists the columns of the table
  [[nodiscard]] int require(std::initializer_list<std::string_view> names,
                            std::string_view unit = "") const;
  /// A field of the current row, without quotes; empty for column -1.
  [[nodiscard]] std::string_view text(int column) const;
  /// Reads a field as a number with a decimal point. Commas may group its digits by three, as in
  /// "1,118,847.5". In "13,500" the comma could also be a decimal comma. The reader therefore
  /// accepts such a number only after it has read one like "1,118,847.5", in which commas can only
  /// group digits.
  ///
  /// If a field is not a number, reports it and returns kUnknown. Returns kUnknown without a report
  /// for column -1, and for an empty field if `may_be_empty` is true.
  [[nodiscard]] double number(int column, bool may_be_empty = false);
  /// Does the same as number(). Also reports a number that is not whole or lies outside [low,
  /// high], and returns kUnknown for such a number.
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
  bool first_row_read_ = false;  ///< whether row_ holds the first row of a table without a header,
                                 ///< which next() returns first
  bool groups_digits_ = false;   ///< whether a number has shown that commas group digits
  std::string_view row_;
  std::vector<std::string_view> fields_;
  std::vector<std::string> header_;      ///< names of the columns as the file spells them
  std::vector<std::string> normalised_;  ///< names of the columns as normalised_name() returns them
  std::vector<std::string> units_;       ///< unit of each column; empty if the header states none
};

/// The name in lower case, without underscores, blanks and quotes: "v_Vel" and "vVel" become
/// "vvel".
[[nodiscard]] std::string normalised_name(std::string_view name);

/// Refuses a table whose lines end with carriage returns without line feeds. CsvReader would read
/// it as one long header.
/// @throws DataError if the table has such lines
void check_line_ends(const TextInput& input);

/// The separator of a row: the most frequent of comma, semicolon, tab and vertical bar. A blank if
/// the row has none of them.
[[nodiscard]] char separator_of(std::string_view row);

/// The first row of the text that is not empty, without a byte order mark. Empty if all rows are
/// empty.
[[nodiscard]] std::string_view first_row(std::string_view text);

/// Splits a row into fields, without quotes.
/// @param separator a blank means one or more blanks
void split_row(std::string_view row, char separator, std::vector<std::string_view>& fields);

}  // namespace traffic::data_prep
