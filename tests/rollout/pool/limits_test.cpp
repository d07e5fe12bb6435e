#include <gmock/gmock.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <string>

#include "rollout/pool/pool_setup.h"
#include "traffic/core/error.h"
#include "traffic/os/child_process.h"

namespace traffic::rollout {
namespace {

constexpr Geometry kManySimulations{.num_envs = 300, .world_size = 1, .envs_per_worker = 10};

/// The message of require_limits() under a limit. Runs in a process of its own, because a lowered
/// limit and a changed user cannot be restored.
std::string message_under(__rlimit_resource resource, rlim_t limit, uid_t user) {
  os::Pipe pipe = os::make_pipe();
  auto child = os::ChildProcess::fork([&] {
    const rlimit low{.rlim_cur = limit, .rlim_max = limit};
    if (setrlimit(resource, &low) != 0 || (user != 0 && seteuid(user) != 0)) return 2;
    try {
      require_limits(kManySimulations);
      dprintf(pipe.write_end.get(), "nothing");
    } catch (const ResourceError& error) {
      dprintf(pipe.write_end.get(), "%s", error.what());
    }
    return 0;
  });
  pipe.write_end.reset();
  std::string text;
  for (char c = 0; ::read(pipe.read_end.get(), &c, 1) == 1;) text.push_back(c);
  EXPECT_EQ(child.wait().code(), 0);
  return text;
}

TEST(Limits, TooFewOpenFilesAreNamedWithTheKeyAndTheCommand) {
  const std::string text = message_under(RLIMIT_NOFILE, 100, 0);
  EXPECT_THAT(text,
              ::testing::HasSubstr("30 rollout workers need 374 open files, the limit is 100"));
  EXPECT_THAT(text, ::testing::HasSubstr("ulimit -n"));
  EXPECT_EQ(message_under(RLIMIT_NOFILE, 1000, 0), "nothing");
}

TEST(Limits, TooFewProcessesAreNamedWithTheKeyAndTheCommand) {
  constexpr uid_t kNobody = 65534;
  const uid_t user = geteuid() == 0 ? kNobody : geteuid();
  const std::string text = message_under(RLIMIT_NPROC, 200, user);
  EXPECT_THAT(text, ::testing::HasSubstr("300 simulations need 720 processes"));
  EXPECT_THAT(text, ::testing::HasSubstr("ulimit -u"));
  EXPECT_EQ(message_under(RLIMIT_NPROC, 1000, user), "nothing");
}

}  // namespace
}  // namespace traffic::rollout
