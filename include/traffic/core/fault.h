/// Injects faults, for tests of how programs react to them. Nothing happens unless the environment
/// has
///   TRAFFIC_FAULT=site:rank:step:kind[,site:rank:step:kind...]
/// e.g. TRAFFIC_FAULT=train.step:1:20:kill or TRAFFIC_FAULT=train.step:0:*:slow:500. rank and step
/// may be '*' (any). A fault at a given step happens once in a process. In place of a step,
/// "p0.001" is the probability of the fault at each call of hit(); each process draws its own
/// random numbers.
///
/// hit() itself carries out the kinds kill, segv, hang, throw, slow:MS (waits MS milliseconds) and
/// signal:N (raises signal N, e.g. 10, SIGUSR1). It returns the kinds nan, huge and fail to its
/// caller. For nan and huge the caller replaces a value (huge: by a finite one that is much too
/// large); for fail it lets the operation fail.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace traffic::fault {

/// The action that the caller of hit() must take.
enum class Action { kNone, kNan, kHuge, kFail };

enum class Kind { kKill, kSegv, kHang, kThrow, kNan, kHuge, kFail, kSlow, kSignal };

struct Point {
  std::string site;
  std::int64_t rank = -1;  ///< -1: any
  std::int64_t step = -1;  ///< -1: any
  double probability = 1;
  Kind kind = Kind::kThrow;
  std::int64_t number = 0;  ///< milliseconds of kSlow, the signal of kSignal
};

/// @throws ConfigError naming the part that cannot be read
std::vector<Point> parse(std::string_view text);

/// Acts if TRAFFIC_FAULT has a fault for this place, and announces each action on stderr.
/// The environment is read at the first call of the process.
/// @throws ConfigError at the first call if TRAFFIC_FAULT cannot be read; Error for the kind throw
Action hit(std::string_view site, std::int64_t rank, std::int64_t step);

}  // namespace traffic::fault
