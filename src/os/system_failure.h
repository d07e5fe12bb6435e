/// Throws the error of a failed system call.
#pragma once

#include <string>
#include <system_error>

namespace traffic::os {

/// @param error an errno
/// @throws std::system_error whose text is `what`, followed by the text of the errno
[[noreturn]] inline void fail(int error, const std::string& what) {
  throw std::system_error(error, std::generic_category(), what);
}

}  // namespace traffic::os
