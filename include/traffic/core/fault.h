/// Injects faults, for tests of how programs react to them. The program calls hit() at places with
/// names, the sites. hit() does nothing if the environment variable TRAFFIC_FAULT is not set. The
/// variable lists faults:
///   TRAFFIC_FAULT=site:rank:step:kind[,site:rank:step:kind...]
/// e.g. TRAFFIC_FAULT=train.step:1:20:kill or TRAFFIC_FAULT=train.step:0:*:slow:500. The value '*'
/// stands for every rank or every step. A fault at a given step happens once in a process. In place
/// of a step, "p0.001" is the probability of the fault at each call of hit(); each process draws
/// its own random numbers.
///
/// hit() itself carries out the kinds kill, segv, hang, throw, slow:MS (waits MS milliseconds) and
/// signal:N (raises signal N, e.g. 10, SIGUSR1). It returns the kinds nan, huge and fail to its
/// caller. For nan the caller replaces a value by NaN, and for huge by a finite number that is much
/// too large. For fail the caller lets its operation fail.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace traffic::fault {

/// The fault that the caller of hit() must carry out; kNone: no fault.
enum class Action { kNone, kNan, kHuge, kFail };

enum class Kind { kKill, kSegv, kHang, kThrow, kNan, kHuge, kFail, kSlow, kSignal };

/// One fault of TRAFFIC_FAULT.
struct Point {
  std::string site;
  std::int64_t rank = -1;  ///< -1 means every rank
  std::int64_t step = -1;  ///< -1 means every step
  double probability = 1;
  Kind kind = Kind::kThrow;
  std::int64_t number = 0;  ///< milliseconds of kSlow, the signal of kSignal
};

/// Parses the text of TRAFFIC_FAULT.
/// @throws ConfigError naming the part that cannot be parsed
std::vector<Point> parse(std::string_view text);

/// Carries out a fault if TRAFFIC_FAULT has one for this site, rank and step, and announces it on
/// stderr. The first call in a process reads the environment.
/// @throws ConfigError at the first call if TRAFFIC_FAULT cannot be read; Error for the kind throw
Action hit(std::string_view site, std::int64_t rank, std::int64_t step);

}  // namespace traffic::fault
