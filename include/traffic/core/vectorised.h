/// Loops that are worth the widest vectors of the processor.
#pragma once

/// Compiles a function once per instruction set; the program takes the best when it is loaded.
/// Sanitizers are not ready yet then, and get a single version.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define TRAFFIC_VECTORISED
#else
#define TRAFFIC_VECTORISED \
  __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#endif
