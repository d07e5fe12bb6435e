/// Prints the faults that a test injects, one line each, for `ctest -L fault -V | grep injected`.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

namespace traffic::test {

/// Prints one line that describes a fault.
inline void tell_injected(std::string_view what) {
  std::printf("[injected] %.*s\n", static_cast<int>(what.size()), what.data());
  std::fflush(stdout);
}

/// Prints the faults that a shell command requests by the environment variables TRAFFIC_FAULT and
/// TRAFFIC_FAIL_IO.
inline void tell_injected_by(std::string_view command) {
  for (const std::string_view name : {"TRAFFIC_FAULT=", "TRAFFIC_FAIL_IO="}) {
    const auto at = command.find(name);
    if (at == std::string_view::npos) continue;
    std::string_view rest = command.substr(at + name.size());
    rest = rest.substr(0, rest.find(' '));
    while (!rest.empty()) {  // a list separated by commas
      const auto end = rest.find(',');
      tell_injected(std::string(name) + std::string(rest.substr(0, end)));
      rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
    }
  }
}

}  // namespace traffic::test
