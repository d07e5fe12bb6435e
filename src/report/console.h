/// Where people watch: stderr, on which log lines and the progress line take turns.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>

namespace traffic::report {

/// The process's only one. Thread-safe, never throws, goes on when stderr is closed or
/// nobody reads it.
class Console {
 public:
  static Console& instance();

  /// Prints a line (which ends in a newline) above the progress line.
  void line(std::string_view text) noexcept;
  /// Replaces the progress line; empty: removes it. Only of use where is_terminal().
  void progress(std::string text) noexcept;
  /// Whether a person sees what is printed, also through mpirun, at once and on a screen that can
  /// overwrite a line.
  [[nodiscard]] static bool is_terminal();
  /// Characters that fit in a line of the terminal.
  [[nodiscard]] static int width();
  /// Writes that failed or that nobody would have read.
  [[nodiscard]] std::uint64_t num_lost() const;

 private:
  Console() = default;
  void write(std::string_view text) noexcept;
  [[nodiscard]] bool is_read() noexcept;

  mutable std::mutex mutex_;
  std::string progress_;
  std::uint64_t num_lost_ = 0;
  bool stalled_ = false;  ///< nobody reads
};

}  // namespace traffic::report
