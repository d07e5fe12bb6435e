/// Replaces an environment process in tests of misbehaviour that an Environment cannot show.
/// TRAFFIC_TEST_SIM chooses it: well (gets ready), exit (ends at its start), mute (never answers),
/// silent (never gets ready).
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "rollout/pool/pool_memory.h"
#include "rollout/pool/slot.h"

namespace {

using namespace traffic::rollout;

int run(const std::string& manner, std::uint32_t env, std::uint32_t incarnation) {
  if (manner == "exit") {
    std::fputs("Error: Network 'missing.net.xml' could not be loaded.\n", stderr);
    return 3;
  }
  const PoolMemory memory{traffic::os::Descriptor(kSharedFd)};
  EnvSlot slot(memory.slot(env), memory.bell(memory.geometry().rank_of_env(env)), incarnation);
  if (manner != "silent") slot.announce_ready();
  while (true) {
    if (slot.wait(1.0) && manner == "well") slot.answer(ReplyKind::kAnswer, 0);
    usleep(1000);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const char* manner = std::getenv("TRAFFIC_TEST_SIM");
  if (argc != 5 || manner == nullptr) return 2;
  return run(manner, static_cast<std::uint32_t>(std::atoi(argv[2])),
             static_cast<std::uint32_t>(std::atoi(argv[4])));
}
