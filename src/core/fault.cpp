// Injects faults that the environment variable TRAFFIC_FAULT lists, for tests (fault.h).
#include "traffic/core/fault.h"

#include <fmt/core.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "traffic/core/clock.h"
#include "traffic/core/error.h"
#include "traffic/core/random.h"

namespace traffic::fault {
namespace {

constexpr std::array<std::pair<std::string_view, Kind>, 9> kKinds{{{"kill", Kind::kKill},
                                                                   {"segv", Kind::kSegv},
                                                                   {"hang", Kind::kHang},
                                                                   {"throw", Kind::kThrow},
                                                                   {"nan", Kind::kNan},
                                                                   {"huge", Kind::kHuge},
                                                                   {"fail", Kind::kFail},
                                                                   {"slow", Kind::kSlow},
                                                                   {"signal", Kind::kSignal}}};

std::string_view name_of(Kind kind) {
  for (const auto& [name, value] : kKinds) {
    if (value == kind) return name;
  }
  return "?";
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const auto end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::optional<std::int64_t> number(std::string_view text) {
  std::int64_t value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || stop != text.data() + text.size() || value < 0) return std::nullopt;
  return value;
}

std::optional<double> probability(std::string_view text) {
  double value = 0.0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || stop != text.data() + text.size() || !(value >= 0 && value <= 1)) {
    return std::nullopt;
  }
  return value;
}

/// Draws whether a fault happens. The random numbers differ between processes, so that a process
/// that replaces another one does not fail at the same call.
bool is_drawn(double probability) {
  static std::mutex mutex;
  static Rng rng(derive_seed(static_cast<std::uint64_t>(getpid()),
                             {static_cast<std::uint64_t>(monotonic_ns())}));
  const std::lock_guard lock(mutex);
  return rng.uniform() < probability;
}

Point parse_point(std::string_view text) {
  const auto bad = [&](std::string_view why) {
    return ConfigError("TRAFFIC_FAULT: '{}': {}; expected site:rank:step:kind", text, why);
  };
  const auto parts = split(text, ':');
  if (parts.size() < 4 || parts[0].empty()) throw bad("a part is missing");
  Point point{.site = std::string(parts[0])};
  for (const auto& [part, field] : {std::pair(parts[1], &point.rank), {parts[2], &point.step}}) {
    if (part == "*") continue;
    if (field == &point.step && part.starts_with('p')) {
      const auto share = probability(part.substr(1));
      if (!share) throw bad(fmt::format("'{}' is no probability from 0 to 1 (p0.001)", part));
      point.probability = *share;
      continue;
    }
    const auto value = number(part);
    if (!value) throw bad(fmt::format("'{}' is neither a number nor '*'", part));
    *field = *value;
  }
  bool known = false;
  for (const auto& [name, kind] : kKinds) {
    if (name != parts[3]) continue;
    known = true;
    point.kind = kind;
  }
  if (!known) throw bad(fmt::format("unknown kind '{}'", parts[3]));
  const bool slow = point.kind == Kind::kSlow;
  const bool has_number = slow || point.kind == Kind::kSignal;
  if (parts.size() != (has_number ? 5U : 4U)) {
    throw bad(slow         ? "slow needs milliseconds (slow:500)"
              : has_number ? "signal needs a number (signal:10)"
                           : "there are more than four parts");
  }
  if (has_number) {
    const auto value = number(parts[4]);
    if (!value || (!slow && (*value == 0 || *value >= NSIG))) {
      throw bad(fmt::format("'{}' is no {}", parts[4], slow ? "number of milliseconds" : "signal"));
    }
    point.number = *value;
  }
  return point;
}

const std::vector<Point>& armed_points() {
  static const std::vector<Point> points = [] {
    const char* text = std::getenv("TRAFFIC_FAULT");
    std::vector<Point> armed;
    if (text != nullptr && *text != '\0') {
      armed = parse(text);
      fmt::print(stderr, "fault points armed: TRAFFIC_FAULT={}\n", text);
    }
    return armed;
  }();
  return points;
}

Action act(const Point& point, std::int64_t rank, std::int64_t step) {
  const std::string place = fmt::format("fault {} at {} on rank {}, step {}", name_of(point.kind),
                                        point.site, rank, step);
  fmt::print(stderr, "{}\n", place);
  std::fflush(stderr);
  switch (point.kind) {
    case Kind::kKill:
      std::raise(SIGKILL);
      break;
    case Kind::kSegv:
      std::raise(SIGSEGV);
      break;
    case Kind::kHang:
      while (true) std::this_thread::sleep_for(std::chrono::seconds(1));
    case Kind::kThrow:
      throw Error(place);
    case Kind::kSlow:
      std::this_thread::sleep_for(std::chrono::milliseconds(point.number));
      break;
    case Kind::kSignal:
      std::raise(static_cast<int>(point.number));
      break;
    case Kind::kNan:
      return Action::kNan;
    case Kind::kHuge:
      return Action::kHuge;
    case Kind::kFail:
      return Action::kFail;
  }
  return Action::kNone;
}

}  // namespace

std::vector<Point> parse(std::string_view text) {
  std::vector<Point> points;
  for (const std::string_view part : split(text, ',')) points.push_back(parse_point(part));
  return points;
}

Action hit(std::string_view site, std::int64_t rank, std::int64_t step) {
  Action left = Action::kNone;
  const std::vector<Point>& points = armed_points();
  static std::vector<std::atomic<bool>> spent(points.size());
  for (std::size_t i = 0; i < points.size(); ++i) {
    const Point& point = points[i];
    if (point.site != site || (point.rank >= 0 && point.rank != rank) ||
        (point.step >= 0 && point.step != step)) {
      continue;
    }
    // A fault at a given step happens once. If the program repeats the step, nothing happens.
    if (point.step >= 0 && spent[i].exchange(true)) continue;
    if (point.probability < 1 && !is_drawn(point.probability)) continue;
    if (const Action action = act(point, rank, step); action != Action::kNone) left = action;
  }
  return left;
}

}  // namespace traffic::fault
