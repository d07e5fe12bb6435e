/// Throws the error of a failed system call.
#pragma once

#include <string>
#include <system_error>

namespace traffic::os {

/// @throws std::system_error with the text of the error number behind `what`
[[noreturn]] inline void fail(int error, const std::string& what) {
  throw std::system_error(error, std::generic_category(), what);
}

}  // namespace traffic::os
