#include "traffic/os/process_pool.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <map>
#include <string>

namespace traffic::os {
namespace {

using ::testing::ElementsAre;

/// All messages of the processes of a pool until they have ended.
struct Heard {
  std::map<int, std::vector<std::string>> messages;
  std::map<int, int> codes;
};
Heard listen(ProcessPool& pool) {
  Heard heard;
  while (pool.size() > 0) {
    for (const auto& event : pool.wait(-1)) {
      if (event.exit) {
        heard.codes[event.process] = event.exit->code();
      } else {
        heard.messages[event.process].push_back(event.message);
      }
    }
  }
  return heard;
}

TEST(ProcessPool, MessagesArriveWholeInOrderAndBeforeTheEnd) {
  const std::string large(1'000'000, 'x');
  ProcessPool pool;
  for (int p = 0; p < 3; ++p) {
    EXPECT_EQ(pool.start([&, p](const Messages& parent) {
      parent.send("first of " + std::to_string(p));
      parent.send(large);
      parent.send("");
      return p;
    }),
              p);
  }
  const Heard heard = listen(pool);
  for (int p = 0; p < 3; ++p) {
    EXPECT_THAT(heard.messages.at(p), ElementsAre("first of " + std::to_string(p), large, ""));
    EXPECT_EQ(heard.codes.at(p), p);
  }
}

TEST(ProcessPool, ADeathIsReportedAndDoesNotAffectOtherProcesses) {
  ProcessPool pool;
  const int victim = pool.start([](const Messages&) { return pause(); });
  pool.start([](const Messages& parent) { return parent.send("well") ? 0 : 1; });
  pool.signal(victim, SIGKILL);
  const Heard heard = listen(pool);
  EXPECT_EQ(heard.codes.at(victim), 128 + SIGKILL);
  EXPECT_THAT(heard.messages.at(1), ElementsAre("well"));
  EXPECT_EQ(heard.codes.at(1), 0);
}

TEST(ProcessPool, AWaitEndsWhenItsTimeIsUp) {
  ProcessPool pool;
  pool.start([](const Messages&) { return pause(); });
  EXPECT_TRUE(pool.wait(0.01).empty());
  EXPECT_EQ(pool.size(), 1U);
}

}  // namespace
}  // namespace traffic::os
