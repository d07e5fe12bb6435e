// Starts child processes and waits for them (child_process.h).
#include "traffic/os/child_process.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <span>
#include <string_view>

#include "system_failure.h"

extern char** environ;

namespace traffic::os {
namespace {

constexpr int kGlance_ms = 100;  ///< time between two calls of wants_stop()

/// Makes the kernel signal this process when the thread that forked it ends. If the parent has
/// ended already, this process exits at once.
void die_with(pid_t parent, int signal_number) {
  prctl(PR_SET_PDEATHSIG, signal_number);
  if (getppid() != parent) _exit(127);
}

void become_expendable() {
  const rlimit none{.rlim_cur = 0, .rlim_max = 0};
  setrlimit(RLIMIT_CORE, &none);
  // When memory runs out, the kernel first kills processes with high scores (of at most 1000). Any
  // process may raise its own score.
  constexpr std::string_view kScore = "500";
  const int fd = ::open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  if (fd < 0) return;  // without /proc the score stays as it is
  write_all(fd, std::as_bytes(std::span(kScore)));
  ::close(fd);
}

std::vector<char*> pointers_to(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

/// Copies a descriptor to a number above `highest`, the highest descriptor number that the child
/// shall have. A later dup2() onto one of these numbers then does not close the copy.
Descriptor above(int fd, int highest) {
  Descriptor copy(fcntl(fd, F_DUPFD_CLOEXEC, highest + 1));
  if (!copy.is_open()) fail(errno, "cannot duplicate a descriptor");
  return copy;
}

/// The arguments, environment and descriptors of a program, prepared before fork(). Between fork()
/// and exec() a process that had several threads may make only a few kinds of calls.
class Launch {
 public:
  explicit Launch(const Program& program)
      : program_(program.program), expendable_(program.expendable) {
    words_ = program.args;
    words_.insert(words_.begin(), program_);
    argv_ = pointers_to(words_);
    for (char** entry = environ; *entry != nullptr; ++entry) settings_.emplace_back(*entry);
    for (const std::string& setting : program.set_environment) {
      const std::string name = setting.substr(0, setting.find('=') + 1);
      std::erase_if(settings_, [&](const std::string& old) { return old.starts_with(name); });
      settings_.push_back(setting);
    }
    envp_ = pointers_to(settings_);
    int highest = STDERR_FILENO;
    for (const auto& [number, ours] : program.fds) highest = std::max(highest, number);
    const auto given = [&](int wanted) {
      return std::any_of(program.fds.begin(), program.fds.end(),
                         [&](const auto& pair) { return pair.first == wanted; });
    };
    if (!given(STDIN_FILENO)) {
      const Descriptor null(::open("/dev/null", O_RDONLY | O_CLOEXEC));
      if (!null.is_open()) fail(errno, "cannot open /dev/null");
      fds_.emplace_back(STDIN_FILENO, above(null.get(), highest));
    }
    for (const auto& [number, ours] : program.fds) fds_.emplace_back(number, above(ours, highest));
    trouble_ = make_pipe();
    trouble_.write_end = above(trouble_.write_end.get(), highest);
  }

  [[noreturn]] void become(pid_t parent) {
    die_with(parent, SIGKILL);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    if (expendable_) become_expendable();
    for (const auto& [number, ours] : fds_) dup2(ours.get(), number);
    execve(program_.c_str(), argv_.data(), envp_.data());
    const int error = errno;
    write_all(trouble_.write_end.get(), std::as_bytes(std::span(&error, 1)));
    _exit(127);
  }

  /// Waits until the child runs the program.
  /// @return 0, or the errno of the call that failed in the child
  int trouble() {
    trouble_.write_end.reset();
    int error = 0;
    const long got =
        read_some(trouble_.read_end.get(), std::as_writable_bytes(std::span(&error, 1)));
    return got == sizeof(error) ? error : 0;
  }

 private:
  std::string program_;
  bool expendable_;
  std::vector<std::string> words_;
  std::vector<std::string> settings_;
  std::vector<char*> argv_;
  std::vector<char*> envp_;
  /// {descriptor in the child, copy whose number is above all descriptors of the child}
  std::vector<std::pair<int, Descriptor>> fds_;
  Pipe trouble_;  ///< the child writes errno here if it fails; a successful exec closes it
};

/// Appends the bytes that have arrived on a pipe, and closes the pipe at its end.
void take(Descriptor& from, std::string& text) {
  std::array<std::byte, 4096> buffer{};
  const long got = read_some(from.get(), buffer);
  if (got <= 0) return from.reset();
  text.append(reinterpret_cast<const char*>(buffer.data()), static_cast<std::size_t>(got));
}

/// Calls takes_line() for each complete line from `begin` on. Removes the lines for which it
/// returns true.
/// @return where the next line begins
std::size_t offer_lines(std::size_t begin, std::string& text,
                        const std::function<bool(std::string_view)>& takes_line) {
  for (auto end = text.find('\n', begin); end != std::string::npos; end = text.find('\n', begin)) {
    const bool taken = takes_line(std::string_view(text).substr(begin, end - begin));
    if (taken) {
      text.erase(begin, end + 1 - begin);
    } else {
      begin = end + 1;
    }
  }
  return begin;
}

}  // namespace

int Exit::signal() const { return WIFSIGNALED(status_) ? WTERMSIG(status_) : 0; }

int Exit::code() const {
  return WIFSIGNALED(status_) ? 128 + WTERMSIG(status_) : WEXITSTATUS(status_);
}

std::string Exit::describe() const {
  if (signal() == 0) return "ended with exit code " + std::to_string(code());
  return "was killed by signal " + std::to_string(signal()) + " (" + strsignal(signal()) + ")";
}

void Exit::repeat() const {
  if (signal() != 0) {
    std::signal(signal(), SIG_DFL);
    std::raise(signal());
  }
  _exit(code());
}

ChildProcess ChildProcess::run(const Program& program) {
  Launch launch(program);
  const pid_t parent = getpid();
  const pid_t pid = ::fork();
  if (pid < 0) fail(errno, "cannot start a process for " + program.program);
  if (pid == 0) launch.become(parent);
  ChildProcess child(pid);
  if (const int error = launch.trouble(); error != 0)
    fail(error, "cannot start " + program.program);
  return child;
}

ChildProcess ChildProcess::fork(const std::function<int()>& body, int parent_death_signal) {
  std::fflush(nullptr);  // otherwise both processes would write the buffered output
  const pid_t parent = getpid();
  const pid_t pid = ::fork();
  if (pid < 0) fail(errno, "cannot start a process");
  if (pid > 0) return ChildProcess(pid);
  die_with(parent, parent_death_signal);
  int code = 1;
  try {
    code = body();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
  }
  std::fflush(nullptr);
  _exit(code);
}

ChildProcess& ChildProcess::operator=(ChildProcess&& other) noexcept {
  if (this != &other) {
    end();
    pid_ = std::exchange(other.pid_, -1);
  }
  return *this;
}

std::optional<Exit> ChildProcess::poll() {
  int status = 0;
  const pid_t got = waitpid(pid_, &status, WNOHANG);
  if (got == 0 || (got < 0 && errno == EINTR)) return std::nullopt;
  if (got < 0) fail(errno, "waitpid");
  pid_ = -1;
  return Exit(status);
}

Exit ChildProcess::wait() {
  int status = 0;
  while (waitpid(pid_, &status, 0) < 0) {
    if (errno != EINTR) fail(errno, "waitpid");
  }
  pid_ = -1;
  return Exit(status);
}

Exit ChildProcess::wait_alike() {
  while (true) {
    int status = 0;
    if (waitpid(pid_, &status, WUNTRACED) < 0) {
      if (errno != EINTR) fail(errno, "waitpid");
    } else if (WIFSTOPPED(status)) {
      std::raise(SIGSTOP);
      signal(SIGCONT);
    } else {
      pid_ = -1;
      return Exit(status);
    }
  }
}

void ChildProcess::signal(int number) const noexcept {
  if (pid_ > 0) ::kill(pid_, number);
}

void ChildProcess::end() noexcept {
  if (pid_ <= 0) return;
  kill();
  while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
}

ProgramOutput run_program(const std::string& program, const std::vector<std::string>& args,
                          const std::function<bool()>& wants_stop,
                          const std::function<bool(std::string_view)>& takes_line) {
  Pipe out = make_pipe();
  Pipe error = make_pipe();
  ChildProcess child = ChildProcess::run(
      {.program = program,
       .args = args,
       .fds = {{STDOUT_FILENO, out.write_end.get()}, {STDERR_FILENO, error.write_end.get()}}});
  out.write_end.reset();
  error.write_end.reset();
  ProgramOutput result;
  std::size_t next_line = 0;
  while (out.read_end.is_open() || error.read_end.is_open()) {
    std::array<pollfd, 2> fds{{{.fd = out.read_end.get(), .events = POLLIN, .revents = 0},
                               {.fd = error.read_end.get(), .events = POLLIN, .revents = 0}}};
    ::poll(fds.data(), fds.size(), kGlance_ms);
    if (!result.stopped && wants_stop && wants_stop()) {
      result.stopped = true;
      child.kill();
    }
    if (fds[0].revents != 0) take(out.read_end, result.out);
    if (fds[1].revents != 0) take(error.read_end, result.error);
    if (takes_line) next_line = offer_lines(next_line, result.error, takes_line);
  }
  result.exit = child.wait();
  return result;
}

}  // namespace traffic::os
