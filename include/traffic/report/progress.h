/// How far a run is, for a person: a line that renews itself on a terminal, a plain line now and
/// then elsewhere.
#pragma once

#include <cstdint>
#include <string>

namespace traffic::report {

class Progress {
 public:
  /// @param mode auto (a bar if stdout is a terminal), on or off; off still logs plain lines
  /// @param unit what is counted, e.g. "step"
  Progress(const std::string& mode, std::string unit, std::int64_t total);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// @param text figures to show, e.g. "loss 0.52, 61 samples/s"
  void update(std::int64_t done, const std::string& text);
  /// Ends the line, so that other output does not run into it.
  void finish();

 private:
  bool bar_;
  std::string unit_;
  std::int64_t total_;
  std::int64_t first_ = -1;
  double started_;
  double last_shown_ = -1e9;
  bool line_open_ = false;
};

}  // namespace traffic::report
