#include "traffic/train/evaluate/evaluation.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <numeric>
#include <optional>
#include <set>
#include <system_error>
#include <utility>

#include "evaluate/episode.h"
#include "traffic/core/clock.h"
#include "traffic/core/error.h"
#include "traffic/os/process_pool.h"
#include "traffic/os/shared_memory.h"
#include "traffic/sim/scenario.h"

namespace traffic::train {
namespace {

/// Between two looks at how far the episodes are.
constexpr double kGlance_s = 1.0;

/// Which episode is to be run next, counted by all processes together.
class SharedCounter {
 public:
  SharedCounter()
      : memory_(
            os::create_memory_file("traffic_evaluation", sizeof(Counter), os::Allocation::kAtOnce),
            0, sizeof(Counter), os::Access::kReadWrite) {}
  std::size_t take() { return reinterpret_cast<Counter*>(memory_.bytes().data())->fetch_add(1); }

 private:
  using Counter = std::atomic<std::size_t>;
  static_assert(Counter::is_always_lock_free);
  os::Mapping memory_;
};

/// What a process tells its parent.
struct Message {
  enum class Kind : std::int32_t { kBegun, kRunning, kDone, kFailed };
  Kind kind = Kind::kBegun;
  std::int32_t exit_code = 0;
  std::size_t task = 0;
  double share = 0;  ///< of kRunning: how much of the episode is done
  EvaluatedEpisode episode{};
  std::array<char, 2048> text{};
};

void send(const os::Messages& parent, const Message& message) {
  if (!parent.send({reinterpret_cast<const char*>(&message), sizeof(message)})) {
    std::_Exit(1);  // the parent is gone
  }
}

/// In a process of its own: episodes until there are none left.
int run_episodes(const EvaluationPlan& plan, SharedCounter& counter, const os::Messages& parent) {
  Message message;
  const std::size_t tasks = plan.controllers.size() * plan.seeds.size();
  try {
    EpisodeRunner runner(plan);
    for (message.task = counter.take(); message.task < tasks; message.task = counter.take()) {
      message.kind = Message::Kind::kBegun;
      send(parent, message);
      const auto report = [&, told_s = steady_seconds()](double share) mutable {
        if (steady_seconds() - told_s < kGlance_s) return;
        told_s = steady_seconds();
        message.kind = Message::Kind::kRunning;
        message.share = share;
        send(parent, message);
      };
      message.episode = runner.run(message.task / plan.seeds.size(),
                                   plan.seeds[message.task % plan.seeds.size()], report);
      message.kind = Message::Kind::kDone;
      send(parent, message);
    }
  } catch (const std::exception& error) {
    const auto* known = dynamic_cast<const Error*>(&error);
    message.kind = Message::Kind::kFailed;
    message.exit_code = static_cast<std::int32_t>(known ? known->code() : ExitCode::kInternal);
    std::string_view(error.what()).copy(message.text.data(), message.text.size() - 1);
    send(parent, message);
  }
  return 0;
}

/// The processes and what they say.
class Processes {
 public:
  Processes(const EvaluationPlan& plan, SharedCounter& counter) {
    const auto jobs = std::clamp<std::size_t>(static_cast<std::size_t>(plan.jobs), 1,
                                              plan.controllers.size() * plan.seeds.size());
    try {
      for (std::size_t j = 0; j < jobs; ++j) {
        pool_.start(
            [&](const os::Messages& parent) { return run_episodes(plan, counter, parent); });
      }
    } catch (const std::system_error& error) {
      throw ResourceError("{}; raise the limits of open files and processes (ulimit -n, -u)",
                          error.what());
    }
    running_.resize(jobs);
    shares_.resize(jobs);
  }

  /// Of the episodes that are running, added up.
  [[nodiscard]] double running_share() const {
    return std::accumulate(shares_.begin(), shares_.end(), 0.0);
  }

  /// The next finished episode; nothing when all processes have ended.
  /// @param glance called about once a second meanwhile
  std::optional<Message> next(const std::function<void()>& glance) {
    while (true) {
      while (!events_.empty()) {
        const os::ProcessPool::Event event = std::move(events_.front());
        events_.pop_front();
        if (auto message = take(event)) return message;
      }
      if (pool_.size() == 0) return std::nullopt;
      for (auto& event : pool_.wait(kGlance_s)) events_.push_back(std::move(event));
      if (steady_seconds() - glanced_s_ < kGlance_s) continue;
      glanced_s_ = steady_seconds();
      glance();
    }
  }

 private:
  std::optional<Message> take(const os::ProcessPool::Event& event) {
    auto& running = running_[static_cast<std::size_t>(event.process)];
    Message message;
    if (!event.exit) {
      std::memcpy(&message, event.message.data(), sizeof(message));
      const bool going_on =
          message.kind == Message::Kind::kBegun || message.kind == Message::Kind::kRunning;
      running = going_on ? std::optional(message.task) : std::nullopt;
      shares_[static_cast<std::size_t>(event.process)] =
          message.kind == Message::Kind::kRunning ? message.share : 0.0;
      return going_on ? std::nullopt : std::optional(message);
    }
    if (!running && event.exit->well()) return std::nullopt;
    message = {.kind = Message::Kind::kFailed,
               .exit_code = static_cast<std::int32_t>(ExitCode::kWorkers),
               .task = running.value_or(0)};
    const std::string why = "its process " + event.exit->describe();
    why.copy(message.text.data(), message.text.size() - 1);
    return message;
  }

  os::ProcessPool pool_;
  std::deque<os::ProcessPool::Event> events_;
  std::vector<std::optional<std::size_t>> running_;  ///< the task of each process
  std::vector<double> shares_;                       ///< of that task, of each process
  double glanced_s_ = steady_seconds();
};

void check_plan(const EvaluationPlan& plan) {
  if (plan.controllers.empty()) throw ConfigError("--controller: expected at least one");
  if (plan.seeds.empty()) throw ConfigError("--seeds: expected at least one");
  sim::find_scenario(plan.config.env.scenario);
  const std::set<std::string> names(plan.controllers.begin(), plan.controllers.end());
  if (names.size() != plan.controllers.size()) {
    throw ConfigError("--controller: found one twice in {}", fmt::join(plan.controllers, ", "));
  }
  for (const std::string& name : plan.controllers) check_controller(name);
}

std::uint64_t parse_number(std::string_view text, const std::string& all) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  constexpr std::uint64_t kLargest = 0x7fffffff;  // SUMO's seeds are 31 bits
  if (text.empty() || error != std::errc() || end != text.data() + text.size() ||
      value > kLargest) {
    throw ConfigError("--seeds: found '{}', expected numbers up to {} as in 7 or 100..119 or 1,5,9",
                      all, kLargest);
  }
  return value;
}

}  // namespace

std::vector<EvaluatedEpisode> run_evaluation(
    const EvaluationPlan& plan, const std::function<void(const EvaluationProgress&)>& progress) {
  check_plan(plan);
  SharedCounter counter;
  Processes processes(plan, counter);
  std::vector<EvaluatedEpisode> episodes(plan.controllers.size() * plan.seeds.size());
  std::size_t done = 0;
  const auto glance = [&] {
    if (!progress) return;
    const auto total = static_cast<double>(episodes.size());
    progress({.done = done,
              .total = episodes.size(),
              .share = (static_cast<double>(done) + processes.running_share()) / total});
  };
  while (const auto message = processes.next(glance)) {
    if (message->kind == Message::Kind::kFailed) {
      throw Error(fmt::format("controller {}, seed {}: {}",
                              plan.controllers[message->task / plan.seeds.size()],
                              plan.seeds[message->task % plan.seeds.size()], message->text.data()),
                  static_cast<ExitCode>(message->exit_code));
    }
    episodes[message->task] = message->episode;
    ++done;
  }
  TRAFFIC_CHECK(done == episodes.size(), "{} of {} episodes came back", done, episodes.size());
  return episodes;
}

std::vector<std::uint64_t> parse_seeds(const std::string& text) {
  std::vector<std::uint64_t> seeds;
  std::string_view rest = text;
  while (true) {
    const std::size_t comma = rest.find(',');
    const std::string_view part = rest.substr(0, comma);
    const std::size_t dots = part.find("..");
    const std::uint64_t first = parse_number(part.substr(0, dots), text);
    const std::uint64_t last =
        dots == std::string_view::npos ? first : parse_number(part.substr(dots + 2), text);
    constexpr std::uint64_t kMost = 100000;
    if (last < first || last - first >= kMost) {
      throw ConfigError("--seeds: found '{}', expected a rising range of at most {} seeds", text,
                        kMost);
    }
    for (std::uint64_t seed = first; seed <= last; ++seed) seeds.push_back(seed);
    if (comma == std::string_view::npos) break;
    rest.remove_prefix(comma + 1);
  }
  const std::set<std::uint64_t> unique(seeds.begin(), seeds.end());
  if (unique.size() != seeds.size()) {
    throw ConfigError("--seeds: found a seed twice in '{}', each is run once", text);
  }
  return seeds;
}

}  // namespace traffic::train
