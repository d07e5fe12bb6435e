/// Makes a process that crashes write a report: its name, the signal and the stack.
#pragma once

#include <string>

namespace traffic {

/// Installs handlers for SIGSEGV, SIGBUS, SIGILL, SIGFPE and SIGABRT. They write the signal and the
/// stack to stderr, with addresses for addr2line, and then the process dies of the signal. If
/// several threads crash, only the first one is reported. Call it after MPI_Init, which installs
/// handlers of its own.
/// @param who name of the process in the report, such as "rank 3"
void install_crash_handlers(const std::string& who);

/// Makes the handlers append the report to this file as well. An empty path means no file.
void set_crash_log(const std::string& path);

}  // namespace traffic
