/// Faults on demand, to prove that they are survived. Nothing happens unless the environment has
///   TRAFFIC_FAULT=site:rank:step:kind[,site:rank:step:kind...]
/// e.g. TRAFFIC_FAULT=train.step:1:20:kill or TRAFFIC_FAULT=train.step:0:*:slow:500.
/// rank and step may be '*' (any); with a step given it happens once in a process. In the place of
/// a step "p0.001" is a probability, drawn at each hit and differently in each process. Kinds:
/// kill, segv, hang, throw act in hit() itself, slow:MS waits there, signal:N is raised there (10:
/// SIGUSR1), as if somebody had sent it at this moment; nan, huge and fail are handed
/// to the caller, who spoils a value (huge: finite, but absurd) or lets the operation fail.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace traffic::fault {

/// What is left for the caller of hit() to do.
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

/// Acts if the environment arms a fault for this place; each action is announced on stderr.
/// The environment is read at the first call of the process.
/// @throws ConfigError at the first call if TRAFFIC_FAULT cannot be read; Error for the kind throw
Action hit(std::string_view site, std::int64_t rank, std::int64_t step);

}  // namespace traffic::fault
