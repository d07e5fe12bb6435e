/// Requests to stop that come as signals. The handlers only note them; loops call stop_requested()
/// between steps.
#pragma once

namespace traffic {

enum class StopRequest : int {
  kNone = 0,
  kSave,       ///< SIGUSR1: save a checkpoint and end; there is time for it
  kTerminate,  ///< SIGTERM, or SIGHUP of a terminal that closed: about a second is left under
               ///< mpirun
  kInterrupt,  ///< SIGINT: as kTerminate; a second one, at least half a second after the first,
               ///< ends the process at once with 130
};

/// Installs the handlers for this process and ignores SIGPIPE (a closed stdout must not end
/// training). SIGHUP stays ignored under nohup. Idempotent. Call it after MPI_Init, which installs
/// handlers of its own.
void install_stop_handlers();

/// Returns the most urgent request so far. Safe in any thread; costs one relaxed load.
[[nodiscard]] StopRequest stop_request() noexcept;
[[nodiscard]] inline bool stop_requested() noexcept { return stop_request() != StopRequest::kNone; }

/// "SIGUSR1", "SIGTERM", "SIGINT" or "none", for messages.
[[nodiscard]] const char* to_string(StopRequest request) noexcept;

/// Forgets the request, e.g. between phases of a test.
void clear_stop_request() noexcept;

}  // namespace traffic
