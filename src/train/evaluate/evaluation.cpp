#include "traffic/train/evaluate/evaluation.h"

#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fcntl.h>
#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include "evaluate/episode.h"
#include "traffic/core/error.h"
#include "traffic/sim/scenario.h"

namespace traffic::train {
namespace {

/// What the processes share: which episode is to be run next.
struct Counter {
  std::atomic<std::size_t> next{0};
};
static_assert(std::atomic<std::size_t>::is_always_lock_free);

class SharedCounter {
 public:
  SharedCounter() {
    void* memory =
        mmap(nullptr, sizeof(Counter), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw ResourceError("mmap of a page: {}", std::strerror(errno));
    counter_ = new (memory) Counter;
  }
  ~SharedCounter() { munmap(counter_, sizeof(Counter)); }
  SharedCounter(const SharedCounter&) = delete;
  SharedCounter& operator=(const SharedCounter&) = delete;
  std::size_t take() { return counter_->next.fetch_add(1); }

 private:
  Counter* counter_;
};

/// A line of the pipe from a process to its parent. Smaller than PIPE_BUF, so one write is whole.
struct Message {
  enum class Kind : std::int32_t { kBegun, kDone, kFailed };
  Kind kind = Kind::kBegun;
  std::int32_t exit_code = 0;
  std::size_t task = 0;
  EvaluatedEpisode episode{};
  std::array<char, 2048> text{};
};
static_assert(sizeof(Message) < 4096);

void send(int fd, const Message& message) {
  const auto written = write(fd, &message, sizeof(message));
  if (written != static_cast<ssize_t>(sizeof(message))) std::_Exit(1);  // the parent is gone
}

/// A process of its own: episodes until there are none left.
[[noreturn]] void run_child(const EvaluationPlan& plan, SharedCounter& counter, int fd,
                            pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) std::_Exit(1);
  Message message;
  const std::size_t tasks = plan.controllers.size() * plan.seeds.size();
  try {
    EpisodeRunner runner(plan);
    for (message.task = counter.take(); message.task < tasks; message.task = counter.take()) {
      message.kind = Message::Kind::kBegun;
      send(fd, message);
      message.episode = runner.run(message.task / plan.seeds.size(),
                                   plan.seeds[message.task % plan.seeds.size()]);
      message.kind = Message::Kind::kDone;
      send(fd, message);
    }
  } catch (const std::exception& error) {
    const auto* known = dynamic_cast<const Error*>(&error);
    message.kind = Message::Kind::kFailed;
    message.exit_code = static_cast<std::int32_t>(known ? known->code() : ExitCode::kInternal);
    std::string_view(error.what()).copy(message.text.data(), message.text.size() - 1);
    send(fd, message);
  }
  std::fflush(nullptr);
  std::_Exit(0);  // libsumo's and torch's static destructors have nothing to do here
}

/// The processes and what they say.
class Processes {
 public:
  Processes(const EvaluationPlan& plan, SharedCounter& counter) {
    const auto jobs = std::clamp<std::size_t>(static_cast<std::size_t>(plan.jobs), 1,
                                              plan.controllers.size() * plan.seeds.size());
    const pid_t parent = getpid();
    std::fflush(nullptr);
    for (std::size_t j = 0; j < jobs; ++j) {
      int ends[2];
      if (pipe2(ends, O_CLOEXEC) != 0) throw ResourceError("pipe: {}", std::strerror(errno));
      const pid_t pid = fork();
      if (pid < 0) throw ResourceError("fork: {}", std::strerror(errno));
      if (pid == 0) {
        close(ends[0]);
        run_child(plan, counter, ends[1], parent);
      }
      close(ends[1]);
      children_.push_back({.pid = pid, .fd = ends[0]});
    }
  }
  ~Processes() {
    for (Child& child : children_) {
      if (child.pid > 0) {
        kill(child.pid, SIGKILL);
        waitpid(child.pid, nullptr, 0);
      }
      if (child.fd >= 0) close(child.fd);
    }
  }
  Processes(const Processes&) = delete;
  Processes& operator=(const Processes&) = delete;

  /// The next finished episode; nothing when all processes have ended.
  std::optional<Message> next() {
    while (true) {
      std::vector<pollfd> fds;
      for (const Child& child : children_) {
        if (child.fd >= 0) fds.push_back({.fd = child.fd, .events = POLLIN, .revents = 0});
      }
      if (fds.empty()) return std::nullopt;
      if (poll(fds.data(), fds.size(), -1) < 0) {
        if (errno == EINTR) continue;
        throw ResourceError("poll: {}", std::strerror(errno));
      }
      for (const pollfd& ready : fds) {
        if (ready.revents == 0) continue;
        if (auto message = take(child_of(ready.fd))) return message;
      }
    }
  }

 private:
  struct Child {
    pid_t pid = 0;
    int fd = -1;
    std::optional<std::size_t> running = std::nullopt;  ///< its task
  };

  Child& child_of(int fd) {
    return *std::find_if(children_.begin(), children_.end(),
                         [&](const Child& child) { return child.fd == fd; });
  }

  std::optional<Message> take(Child& child) {
    Message message;
    const auto size = read(child.fd, &message, sizeof(message));
    if (size == static_cast<ssize_t>(sizeof(message))) {
      const bool begun = message.kind == Message::Kind::kBegun;
      child.running = begun ? std::optional(message.task) : std::nullopt;
      return begun ? std::nullopt : std::optional(message);
    }
    close(std::exchange(child.fd, -1));
    int status = 0;
    waitpid(std::exchange(child.pid, 0), &status, 0);
    if (!child.running && WIFEXITED(status) && WEXITSTATUS(status) == 0) return std::nullopt;
    message = {.kind = Message::Kind::kFailed,
               .exit_code = static_cast<std::int32_t>(ExitCode::kWorkers),
               .task = child.running.value_or(0)};
    const std::string why =
        WIFSIGNALED(status) ? fmt::format("its process was ended by signal {}", WTERMSIG(status))
                            : fmt::format("its process ended with code {}", WEXITSTATUS(status));
    why.copy(message.text.data(), message.text.size() - 1);
    return message;
  }

  std::vector<Child> children_;
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

std::vector<EvaluatedEpisode> run_evaluation(const EvaluationPlan& plan,
                                             const std::function<void(std::size_t)>& progress) {
  check_plan(plan);
  SharedCounter counter;
  Processes processes(plan, counter);
  std::vector<EvaluatedEpisode> episodes(plan.controllers.size() * plan.seeds.size());
  std::size_t done = 0;
  while (const auto message = processes.next()) {
    if (message->kind == Message::Kind::kFailed) {
      throw Error(fmt::format("controller {}, seed {}: {}",
                              plan.controllers[message->task / plan.seeds.size()],
                              plan.seeds[message->task % plan.seeds.size()], message->text.data()),
                  static_cast<ExitCode>(message->exit_code));
    }
    episodes[message->task] = message->episode;
    ++done;
    if (progress) progress(done);
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
