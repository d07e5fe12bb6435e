/// Rows of text and numbers for spreadsheets, e.g. episodes.csv.
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
/// counted and does not throw.
class CsvWriter {
 public:
  using Field = std::variant<std::string, std::int64_t, double>;

  /// @param columns without "step"
  /// @param resumed_step step at which a resumed run goes on; rows of later steps are removed
  /// @throws ResourceError if an old file cannot be shortened
  CsvWriter(const std::filesystem::path& path, const std::vector<std::string>& columns,
            std::optional<std::int64_t> resumed_step = std::nullopt);
  ~CsvWriter();
  CsvWriter(CsvWriter&&) noexcept;

  /// @throws Error if there are not as many fields as columns
  void write(std::int64_t step, const std::vector<Field>& fields);
  [[nodiscard]] std::uint64_t num_lost() const;

 private:
  std::size_t num_columns_;
  std::unique_ptr<AppendFile> file_;
};

}  // namespace traffic::report
