/// Last words of a process that crashes.
#pragma once

#include <string>

namespace traffic {

/// From now on SIGSEGV, SIGBUS, SIGILL, SIGFPE and SIGABRT write which signal it was and the stack
/// to stderr before the process dies of them; addresses are for addr2line. Call it after MPI_Init,
/// which installs handlers of its own.
/// @param who "rank 3", first in every line
void install_crash_handlers(const std::string& who);

/// The same goes into this file, too; empty: no file.
void set_crash_log(const std::string& path);

}  // namespace traffic
