/// Ends a program at the end of main(), without the time that static destructors would take.
#pragma once

namespace traffic {

/// Ends this process after writing the buffered output of stdio and std::cout. Neither destructors
/// of static objects nor functions of atexit() run: libtorch alone would need 0.1 to 0.2 s of
/// processor time to destroy its tables of operators. Call it at the end of main(), where no
/// destructor has anything left to write or to remove.
[[noreturn]] void exit_without_destructors(int code);

}  // namespace traffic
