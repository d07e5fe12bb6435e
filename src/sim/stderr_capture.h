/// Captures what SUMO prints to the stderr of this process, for error messages.
#pragma once

#include <exception>
#include <string>

#include "traffic/os/descriptor.h"

namespace traffic::sim {

/// Captures stderr while it lives. SUMO prints the reason of a failure there and throws only
/// "Process Error".
class StderrCapture {
 public:
  StderrCapture();
  ~StderrCapture();
  StderrCapture(const StderrCapture&) = delete;
  StderrCapture& operator=(const StderrCapture&) = delete;

  /// Ends the capture. @return the captured text
  std::string end();

 private:
  os::Descriptor saved_;
  os::Descriptor memory_;
};

/// SUMO's messages on one line, without the prefix "Error: " and without warnings before them.
std::string one_line(std::string messages);
/// SUMO's reason for a failure: the text that it printed, else the text of the exception.
std::string reason_of(const std::string& captured, const std::exception& error);

}  // namespace traffic::sim
