/// The exception classes of all programs, their exit codes, and a check of internal invariants. An
/// error message says what happened, where, what was found and expected, and what the reader can
/// do.
///
/// Every error that a person may see is a traffic::Error or a subclass; the subclass decides the
/// exit code of the program. An error is logged once, where it is handled (main, or the supervisor
/// that recovers from it).
#pragma once

#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <utility>

namespace traffic {

/// Exit codes of every program; documented in docs/reference/exit-codes.md.
enum class ExitCode : int {
  kDone = 0,
  kInternal = 1,
  kConfig = 2,
  kData = 3,
  kCheckpoint = 4,
  kNumeric = 5,
  kWorkers = 6,
  kPeerLost = 7,
  kResources = 8,
  kStopped = 75,
};

/// Base class of the program's exceptions. An Error of no subclass has by default the exit code of
/// an internal error.
class Error : public std::runtime_error {
 public:
  explicit Error(const std::string& what, ExitCode code = ExitCode::kInternal)
      : std::runtime_error(what), code_(code) {}
  [[nodiscard]] ExitCode code() const noexcept { return code_; }

 private:
  ExitCode code_;
};

/// Defines a subclass of Error with its exit code and a fmt-style constructor.
#define TRAFFIC_DEFINE_ERROR(Name, exit_code)                                       \
  class Name : public Error {                                                       \
   public:                                                                          \
    explicit Name(const std::string& what) : Error(what, exit_code) {}              \
    template <typename... Args>                                                     \
    requires(sizeof...(Args) > 0) explicit Name(fmt::format_string<Args...> format, \
                                                Args&&... args)                     \
        : Error(fmt::format(format, std::forward<Args>(args)...), exit_code) {}     \
  }

TRAFFIC_DEFINE_ERROR(ConfigError, ExitCode::kConfig);          ///< configuration or usage
TRAFFIC_DEFINE_ERROR(DataError, ExitCode::kData);              ///< data sets and scenarios
TRAFFIC_DEFINE_ERROR(CheckpointError, ExitCode::kCheckpoint);  ///< unusable checkpoints
TRAFFIC_DEFINE_ERROR(NumericError, ExitCode::kNumeric);  ///< NaN or infinity that cannot be skipped
TRAFFIC_DEFINE_ERROR(WorkerError, ExitCode::kWorkers);   ///< a simulation or worker failed
TRAFFIC_DEFINE_ERROR(CommError, ExitCode::kPeerLost);    ///< a rank was lost or missed a deadline
TRAFFIC_DEFINE_ERROR(ResourceError, ExitCode::kResources);  ///< lack of disk, memory, devices
TRAFFIC_DEFINE_ERROR(ShapeError, ExitCode::kInternal);      ///< tensors that do not fit each other

namespace detail {
[[noreturn]] void check_failed(const char* condition, const char* file, int line,
                               const std::string& message);
}  // namespace detail

/// Throws Error with the formatted message if the condition is false, also in Release builds. It
/// guards invariants of the program: TRAFFIC_CHECK(n > 0, "batch {} is empty", i).
#define TRAFFIC_CHECK(condition, ...)                                                              \
  do {                                                                                             \
    if (!(condition)) [[unlikely]]                                                                 \
      ::traffic::detail::check_failed(#condition, __FILE__, __LINE__, ::fmt::format(__VA_ARGS__)); \
  } while (false)

}  // namespace traffic
