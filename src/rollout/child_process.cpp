#include "child_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "traffic/core/error.h"

extern char** environ;

namespace traffic::rollout {
namespace {

constexpr std::size_t kTailBytes = 1500;
constexpr int kMaxReads = 64;

void check_spawn(int error, const std::string& program) {
  if (error == 0) return;
  throw WorkerError("cannot start {}: {}", program, std::strerror(error));
}

/// posix_spawn's two argument objects.
class SpawnArguments {
 public:
  SpawnArguments() {
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
  }
  ~SpawnArguments() {
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
  }
  SpawnArguments(const SpawnArguments&) = delete;
  SpawnArguments& operator=(const SpawnArguments&) = delete;

  posix_spawn_file_actions_t actions{};
  posix_spawnattr_t attributes{};
};

/// The end of a pipe may have the number that a dup2 before it overwrites: numbers above are safe.
Descriptor above_shared_fd(int fd) {
  Descriptor low(fd);
  Descriptor high(fcntl(low.get(), F_DUPFD_CLOEXEC, kSharedFd + 1));
  if (!high.is_open()) throw WorkerError("cannot duplicate a descriptor: {}", std::strerror(errno));
  return high;
}

}  // namespace

std::string describe_exit(int wait_status) {
  if (WIFSIGNALED(wait_status)) {
    const int signal = WTERMSIG(wait_status);
    return fmt::format("was killed by signal {} ({})", signal, strsignal(signal));
  }
  return fmt::format("ended with exit code {}", WEXITSTATUS(wait_status));
}

ChildProcess::ChildProcess(const ChildSpec& spec) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) {
    throw WorkerError("cannot create a pipe for {}: {}", spec.program, std::strerror(errno));
  }
  output_ = Descriptor(ends[0]);
  const Descriptor write_end = above_shared_fd(ends[1]);
  const Descriptor shared = above_shared_fd(dup(spec.shared_fd));
  fcntl(output_.get(), F_SETFL, O_NONBLOCK);

  SpawnArguments spawn;
  posix_spawn_file_actions_addopen(&spawn.actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&spawn.actions, write_end.get(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&spawn.actions, write_end.get(), STDERR_FILENO);
  posix_spawn_file_actions_adddup2(&spawn.actions, shared.get(), kSharedFd);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&spawn.attributes, &none);
  posix_spawnattr_setflags(&spawn.attributes, POSIX_SPAWN_SETSIGMASK);

  std::vector<std::string> words = spec.args;
  words.insert(words.begin(), spec.program);
  std::vector<char*> argv;
  argv.reserve(words.size() + 1);
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  check_spawn(posix_spawn(&pid_, spec.program.c_str(), &spawn.actions, &spawn.attributes,
                          argv.data(), environ),
              spec.program);
}

ChildProcess::~ChildProcess() {
  if (pid_ < 0) return;
  kill();
  while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

void ChildProcess::read_output() {
  std::array<char, 4096> buffer{};
  // Bounded, so that a process that writes without end does not keep us here.
  for (int i = 0; i < kMaxReads && output_.is_open(); ++i) {
    const ssize_t got = read(output_.get(), buffer.data(), buffer.size());
    if (got > 0) {
      tail_.append(buffer.data(), static_cast<std::size_t>(got));
      if (tail_.size() > kTailBytes) tail_.erase(0, tail_.size() - kTailBytes);
    } else if (got == 0) {
      output_.reset();
    } else if (errno != EINTR) {
      if (errno != EAGAIN) output_.reset();
      return;
    }
  }
}

std::optional<int> ChildProcess::reap() {
  int status = 0;
  const pid_t got = waitpid(pid_, &status, WNOHANG);
  if (got == 0 || (got < 0 && errno == EINTR)) return std::nullopt;
  TRAFFIC_CHECK(got == pid_, "waitpid({}) failed: errno {}", pid_, errno);
  read_output();
  pid_ = -1;
  return status;
}

void ChildProcess::kill() {
  if (pid_ > 0) ::kill(pid_, SIGKILL);
}

}  // namespace traffic::rollout
