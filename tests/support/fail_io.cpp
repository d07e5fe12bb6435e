#include "support/fail_io.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

struct Plan {
  std::array<char, 16> call{};
  std::array<char, 256> part{};
  int k = 0;
  int error = 0;
  int times = 0;
};
Plan plan;  // set while only one thread runs
std::atomic<int> calls{0};
std::atomic<int> injected{0};

bool is_hit(const char* call, const char* path) {
  if (plan.k == 0 || path == nullptr || std::strcmp(plan.call.data(), call) != 0) return false;
  if (std::strstr(path, plan.part.data()) == nullptr) return false;
  const int number = ++calls;
  if (number < plan.k || number >= plan.k + plan.times) return false;
  ++injected;
  return true;
}

bool is_hit(const char* call, int fd) {
  if (plan.k == 0) return false;
  std::array<char, 32> link{};
  std::snprintf(link.data(), link.size(), "/proc/self/fd/%d", fd);
  std::array<char, 4096> path{};
  return readlink(link.data(), path.data(), path.size() - 1) > 0 && is_hit(call, path.data());
}

template <typename Function>
Function* real(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

bool takes_mode(int flags) { return (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE; }

int fail() {
  errno = plan.error;
  return -1;
}

__attribute__((constructor)) void read_environment() {
  const char* text = std::getenv("TRAFFIC_FAIL_IO");
  if (text == nullptr) return;
  Plan asked;
  asked.times = 1;
  if (std::sscanf(text, "%15[^:]:%255[^:]:%d:%d:%d", asked.call.data(), asked.part.data(), &asked.k,
                  &asked.error, &asked.times) < 4) {
    std::fprintf(stderr, "TRAFFIC_FAIL_IO: found '%s', expected call:part:k:errno[:times]\n", text);
    std::abort();
  }
  plan = asked;
}

}  // namespace

extern "C" {

void fail_io_arm(const char* call, const char* part, int k, int error, int times) {
  plan = {};
  std::snprintf(plan.call.data(), plan.call.size(), "%s", call);
  std::snprintf(plan.part.data(), plan.part.size(), "%s", part);
  plan.error = error;
  plan.times = times;
  calls = 0;
  injected = 0;
  plan.k = k;
}
void fail_io_disarm() { plan.k = 0; }
int fail_io_injected() { return injected; }

int open(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = takes_mode(flags) ? va_arg(arguments, mode_t) : 0;
  va_end(arguments);
  if (is_hit("open", path)) return fail();
  return real<int(const char*, int, ...)>("open")(path, flags, mode);
}
int open64(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = takes_mode(flags) ? va_arg(arguments, mode_t) : 0;
  va_end(arguments);
  if (is_hit("open", path)) return fail();
  return real<int(const char*, int, ...)>("open64")(path, flags, mode);
}
ssize_t write(int fd, const void* bytes, size_t size) {
  const auto call = real<ssize_t(int, const void*, size_t)>("write");
  if (!is_hit("write", fd)) return call(fd, bytes, size);
  return plan.error == 0 ? call(fd, bytes, size / 2) : fail();
}
int fsync(int fd) { return is_hit("fsync", fd) ? fail() : real<int(int)>("fsync")(fd); }
int close(int fd) {
  const bool hit = is_hit("close", fd);
  const int rc = real<int(int)>("close")(fd);  // close() releases the descriptor in any case
  return hit ? fail() : rc;
}
int rename(const char* from, const char* to) noexcept {
  return is_hit("rename", to) ? fail() : real<int(const char*, const char*)>("rename")(from, to);
}
/// If the plan names "clock", the time of day is wrong by a day at every reading: ahead and behind
/// in turn.
int clock_gettime(clockid_t clock, struct timespec* time) noexcept {
  static std::atomic<unsigned> looks{0};
  const int rc = real<int(clockid_t, struct timespec*)>("clock_gettime")(clock, time);
  if (rc == 0 && clock == CLOCK_REALTIME && plan.k != 0 &&
      std::strcmp(plan.call.data(), "clock") == 0) {
    time->tv_sec += looks++ % 2 == 0 ? 86400 : -86400;
  }
  return rc;
}
int link(const char* from, const char* to) noexcept {
  return is_hit("link", to) ? fail() : real<int(const char*, const char*)>("link")(from, to);
}
int mkdir(const char* path, mode_t mode) noexcept {
  return is_hit("mkdir", path) ? fail() : real<int(const char*, mode_t)>("mkdir")(path, mode);
}
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"  // there is a struct flock, too
int flock(int fd, int operation) noexcept {
  return is_hit("flock", fd) ? fail() : real<int(int, int)>("flock")(fd, operation);
}
#pragma GCC diagnostic pop
}
