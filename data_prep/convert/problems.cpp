// InputProblems of recording.h: reports or counts the problems that a reader finds in a recording.
#include <algorithm>

#include "traffic/core/error.h"

#include "recording.h"

namespace traffic::data_prep {
namespace {

constexpr std::size_t kMaxExamples = 5;

/// Replaces control characters by '?'. Names in damaged files may contain them, and they would
/// garble the terminal or cut the message off.
std::string without_controls(std::string text) {
  constexpr unsigned char kFirstPrintable = 0x20;
  std::replace_if(
      text.begin(), text.end(),
      [](char c) { return static_cast<unsigned char>(c) < kFirstPrintable || c == 0x7f; }, '?');
  return text;
}

}  // namespace

void InputProblems::report(const std::string& file, std::int64_t line, const std::string& what) {
  const std::string message = without_controls(line > 0 ? fmt::format("{}:{}: {}", file, line, what)
                                                        : fmt::format("{}: {}", file, what));
  if (!skip_) {
    throw DataError("{}; correct the file, or leave out such parts with --on-error skip", message);
  }
  ++count_;
  const std::lock_guard lock(mutex_);
  if (examples_.size() < kMaxExamples) examples_.push_back(message);
}

}  // namespace traffic::data_prep
