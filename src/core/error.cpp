// Throws the error of a check that has failed (TRAFFIC_CHECK).
#include "traffic/core/error.h"

#include <string_view>

namespace traffic::detail {

void check_failed(const char* condition, const char* file, int line, const std::string& message) {
  std::string_view name = file;
  if (const auto slash = name.find_last_of('/'); slash != std::string_view::npos) {
    name.remove_prefix(slash + 1);
  }
  throw Error(
      fmt::format("internal check failed at {}:{}: {} ({})", name, line, message, condition));
}

}  // namespace traffic::detail
