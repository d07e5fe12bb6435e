#include "traffic/core/error.h"

#include "recording.h"

namespace traffic::data_prep {
namespace {

constexpr std::size_t kMaxExamples = 5;

}  // namespace

void InputProblems::report(const std::string& file, std::int64_t line, const std::string& what) {
  const std::string message =
      line > 0 ? fmt::format("{}:{}: {}", file, line, what) : fmt::format("{}: {}", file, what);
  if (!skip_) {
    throw DataError("{}; mend the file, or leave such parts out with --on-error skip", message);
  }
  ++count_;
  const std::lock_guard lock(mutex_);
  if (examples_.size() < kMaxExamples) examples_.push_back(message);
}

}  // namespace traffic::data_prep
