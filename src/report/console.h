/// The console, which is stderr: log lines and the progress line share it.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>

namespace traffic::report {

/// The only console of the process. Thread-safe; it never throws and never blocks, even if stderr
/// is closed or nobody reads it.
class Console {
 public:
  static Console& instance();

  /// Prints a line (which ends in a newline) above the progress line.
  void line(std::string_view text) noexcept;
  /// Replaces the progress line, or removes it if the text is empty. Needs is_terminal().
  void progress(std::string text) noexcept;
  /// Whether the output appears, directly or through mpirun, on a terminal that can overwrite a
  /// line.
  [[nodiscard]] static bool is_terminal();
  /// Columns of the terminal.
  [[nodiscard]] static int width();
  /// Number of writes that failed or would have blocked.
  [[nodiscard]] std::uint64_t num_lost() const;

 private:
  Console() = default;
  void write(std::string_view text) noexcept;
  [[nodiscard]] bool is_read() noexcept;

  mutable std::mutex mutex_;
  std::string progress_;
  std::uint64_t num_lost_ = 0;
  bool stalled_ = false;  ///< whether the last write would have blocked
};

}  // namespace traffic::report
