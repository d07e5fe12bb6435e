/// Stands for sumo_env where a simulation has to misbehave in a way that SUMO cannot be brought to.
/// TRAFFIC_TEST_SIM says how: well, exit (at start), mute (never answers), silent (never ready),
/// garbage (answers with what is no observation), once (dies at its second command).
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "rollout/child_process.h"
#include "rollout/period_codec.h"
#include "rollout/pool_memory.h"
#include "rollout/slot.h"

namespace {

using namespace traffic::rollout;

int run(const std::string& manner, std::uint32_t env, std::uint32_t incarnation) {
  if (manner == "exit") {
    std::fputs("Error: Network 'missing.net.xml' could not be loaded.\n", stderr);
    return 3;
  }
  const PoolMemory memory{Descriptor(kSharedFd)};
  SimSlot slot(memory.slot(env), memory.bell(memory.geometry().rank_of_env(env)), incarnation);
  if (manner != "silent") slot.announce_ready();
  int commands = 0;
  while (true) {
    if (!slot.wait(1.0) || manner == "mute" || manner == "silent") {
      usleep(1000);
      continue;
    }
    if (manner == "once" && ++commands == 2) std::abort();
    PeriodWriter writer(slot.reply_buffer());
    writer.begin();
    std::size_t size = writer.finish({});
    if (manner == "garbage") {
      std::memset(slot.reply_buffer().data(), 0xa5, 512);
      size = 512;
    }
    slot.answer(ReplyKind::kPeriod, size);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const char* manner = std::getenv("TRAFFIC_TEST_SIM");
  if (argc != 7 || manner == nullptr) return 2;
  return run(manner, static_cast<std::uint32_t>(std::atoi(argv[2])),
             static_cast<std::uint32_t>(std::atoi(argv[4])));
}
