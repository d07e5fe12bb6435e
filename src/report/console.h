/// Console prints log lines and the progress line to stderr, so that they do not overwrite each
/// other. The progress line is the last line of a terminal, which the progress bar rewrites.
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

  /// Prints a line above the progress line. The text must end with a newline.
  void line(std::string_view text) noexcept;
  /// Replaces the progress line, or removes it if the text is empty. Call it only if is_terminal()
  /// is true or the user has requested a progress bar.
  void progress(std::string text) noexcept;
  /// Whether the output appears, directly or through mpirun, on a terminal that can overwrite a
  /// line.
  [[nodiscard]] static bool is_terminal();
  /// Number of columns of the terminal; 80 if it is unknown.
  [[nodiscard]] static int width();
  /// Number of texts that were lost because writing failed or would have blocked.
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
