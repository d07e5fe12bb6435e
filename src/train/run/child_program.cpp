#include "run/child_program.h"

#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fcntl.h>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "traffic/core/error.h"
#include "traffic/core/signals.h"

namespace traffic::train {
namespace {

constexpr int kGlance_ms = 100;  ///< between looks at stop requests

/// Both ends of a pipe; closes what is still open.
struct Pipe {
  Pipe() {
    if (pipe2(ends.data(), O_CLOEXEC) != 0) throw ResourceError("pipe: {}", std::strerror(errno));
  }
  ~Pipe() {
    for (int& end : ends) close_end(end);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  static void close_end(int& end) {
    if (end >= 0) close(end);
    end = -1;
  }
  std::array<int, 2> ends{-1, -1};
};

/// Between fork and exec only what is safe in a process that had threads.
[[noreturn]] void become(char* const* argv, const Pipe& out, const Pipe& error, pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(127);
  dup2(out.ends[1], STDOUT_FILENO);
  dup2(error.ends[1], STDERR_FILENO);
  execv(argv[0], argv);
  _exit(127);
}

/// @return whether the pipe is still open
bool take(int fd, std::string& text) {
  std::array<char, 4096> buffer{};
  const ssize_t got = read(fd, buffer.data(), buffer.size());
  if (got > 0) text.append(buffer.data(), static_cast<std::size_t>(got));
  return got > 0 || (got < 0 && errno == EINTR);
}

void read_to_end(Pipe& out, Pipe& error, pid_t pid, ProgramOutput& result) {
  while (out.ends[0] >= 0 || error.ends[0] >= 0) {
    std::array<pollfd, 2> fds{{{.fd = out.ends[0], .events = POLLIN, .revents = 0},
                               {.fd = error.ends[0], .events = POLLIN, .revents = 0}}};
    poll(fds.data(), fds.size(), kGlance_ms);
    if (stop_requested() && !result.stopped) {
      result.stopped = true;
      kill(pid, SIGKILL);
    }
    if (fds[0].revents != 0 && !take(out.ends[0], result.out)) Pipe::close_end(out.ends[0]);
    if (fds[1].revents != 0 && !take(error.ends[0], result.error)) Pipe::close_end(error.ends[0]);
  }
}

}  // namespace

ProgramOutput run_program(const std::filesystem::path& program,
                          const std::vector<std::string>& arguments) {
  if (access(program.c_str(), X_OK) != 0) {
    throw ResourceError("{} cannot be run: {}; build it", program.string(), std::strerror(errno));
  }
  std::vector<std::string> words{program.string()};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  Pipe out;
  Pipe error;
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid < 0) throw ResourceError("fork: {}", std::strerror(errno));
  if (pid == 0) become(argv.data(), out, error, parent);
  Pipe::close_end(out.ends[1]);
  Pipe::close_end(error.ends[1]);
  ProgramOutput result;
  read_to_end(out, error, pid, result);
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return result;
}

}  // namespace traffic::train
