/// The macro TRAFFIC_VECTORISED marks functions whose loops gain from wide vector instructions.
#pragma once

/// Makes the compiler compile the function once for each instruction set. The best version for the
/// processor is selected when the program is loaded. Sanitizers are not initialised at that time,
/// so builds with them get a single version.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define TRAFFIC_VECTORISED
#else
#define TRAFFIC_VECTORISED \
  __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#endif
