/// Handles signals that ask a program to stop, such as SIGTERM. The handlers only record the
/// request. The loops of the program call stop_requested() between their steps.
#pragma once

namespace traffic {

enum class StopRequest : int {
  kNone = 0,
  kSave,       ///< SIGUSR1: save a checkpoint and end; the sender leaves time for this
  kTerminate,  ///< SIGTERM, or SIGHUP of a terminal that closed: mpirun kills the process about a
               ///< second later
  kInterrupt,  ///< SIGINT: as kTerminate; a second SIGINT, at least half a second after the first,
               ///< ends the process at once with exit code 130
};

/// Installs the handlers for this process and ignores SIGPIPE (a closed stdout must not end
/// training). SIGHUP stays ignored under nohup. Repeated calls do no harm. Call it after MPI_Init,
/// which installs handlers of its own.
void install_stop_handlers();

/// Returns the most urgent request so far. Safe in any thread; costs one relaxed load.
[[nodiscard]] StopRequest stop_request() noexcept;
[[nodiscard]] inline bool stop_requested() noexcept { return stop_request() != StopRequest::kNone; }

/// "SIGUSR1", "SIGTERM", "SIGINT" or "none", for messages.
[[nodiscard]] const char* to_string(StopRequest request) noexcept;

/// Forgets the request, e.g. between phases of a test.
void clear_stop_request() noexcept;

}  // namespace traffic
