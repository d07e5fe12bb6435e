/// CsvWriter appends rows to a CSV file of a run, e.g. episodes.csv.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace traffic::report {

class AppendFile;

/// The first column is the step. Fields are quoted as in RFC 4180. A row that cannot be written is
/// lost and counted; there is no exception.
class CsvWriter {
 public:
  using Field = std::variant<std::string, std::int64_t, double>;

  /// @param columns names of the columns after "step"
  /// @param resumed_step step at which a resumed run continues; rows of later steps are removed
  /// @throws ResourceError if an existing file cannot be shortened
  CsvWriter(const std::filesystem::path& path, const std::vector<std::string>& columns,
            std::optional<std::int64_t> resumed_step = std::nullopt);
  ~CsvWriter();
  CsvWriter(CsvWriter&&) noexcept;

  /// @throws Error if the numbers of fields and columns differ
  void write(std::int64_t step, const std::vector<Field>& fields);
  /// Number of lost rows.
  [[nodiscard]] std::uint64_t num_lost() const;

 private:
  std::size_t num_columns_;
  std::unique_ptr<AppendFile> file_;
};

}  // namespace traffic::report
