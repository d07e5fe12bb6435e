#include "traffic/core/signals.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstddef>
#include <cstring>

namespace traffic {
namespace {

/// Restores the handlers of signals after each test, because other tests run in the same process.
class Signals : public ::testing::Test {
 protected:
  void SetUp() override {
    for (std::size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], nullptr, &before_[i]);
    install_stop_handlers();
    clear_stop_request();
  }
  void TearDown() override {
    for (std::size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &before_[i], nullptr);
    clear_stop_request();
  }

 private:
  static constexpr std::array kSignals{SIGUSR1, SIGTERM, SIGINT, SIGHUP, SIGPIPE};
  std::array<struct sigaction, kSignals.size()> before_{};
};

TEST_F(Signals, NothingIsRequestedAtFirst) {
  EXPECT_FALSE(stop_requested());
  EXPECT_EQ(stop_request(), StopRequest::kNone);
}

TEST_F(Signals, EachSignalIsNotedAsItsKind) {
  std::raise(SIGUSR1);
  EXPECT_TRUE(stop_requested());
  EXPECT_EQ(stop_request(), StopRequest::kSave);
  std::raise(SIGTERM);
  EXPECT_EQ(stop_request(), StopRequest::kTerminate);
  std::raise(SIGINT);
  EXPECT_EQ(stop_request(), StopRequest::kInterrupt);
  EXPECT_STREQ(to_string(stop_request()), "SIGINT");
}

TEST_F(Signals, ALessUrgentRequestDoesNotHideAMoreUrgentOne) {
  std::raise(SIGTERM);
  std::raise(SIGUSR1);
  EXPECT_EQ(stop_request(), StopRequest::kTerminate);
}

TEST_F(Signals, ATerminalThatClosesIsARequestToEndUnlessItIsIgnored) {
  std::signal(SIGHUP, SIG_DFL);
  install_stop_handlers();
  std::raise(SIGHUP);
  EXPECT_EQ(stop_request(), StopRequest::kTerminate);
  clear_stop_request();
  std::signal(SIGHUP, SIG_IGN);  // as nohup does
  install_stop_handlers();
  std::raise(SIGHUP);
  EXPECT_EQ(stop_request(), StopRequest::kNone);
  std::signal(SIGHUP, SIG_DFL);
}

TEST_F(Signals, WritingToAClosedPipeDoesNotEndTheProcess) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  close(ends[0]);
  EXPECT_EQ(write(ends[1], "x", 1), -1);
  EXPECT_EQ(errno, EPIPE);
  close(ends[1]);
}

using SignalsDeathTest = Signals;

TEST_F(SignalsDeathTest, TheSecondInterruptEndsTheProcessAtOnce) {
  EXPECT_EXIT(
      {
        std::raise(SIGINT);
        ::usleep(600'000);
        std::raise(SIGINT);
        ::_exit(0);
      },
      ::testing::ExitedWithCode(130), "");
}

TEST_F(SignalsDeathTest, TwoInterruptsAtOnceAreOneRequest) {
  EXPECT_EXIT(
      {
        std::raise(SIGINT);
        std::raise(SIGINT);
        ::_exit(stop_request() == StopRequest::kInterrupt ? 0 : 1);
      },
      ::testing::ExitedWithCode(0), "");
}

TEST_F(SignalsDeathTest, OneInterruptAfterTerminateStillLeavesTimeToSave) {
  EXPECT_EXIT(
      {
        std::raise(SIGTERM);
        std::raise(SIGINT);
        ::_exit(0);
      },
      ::testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace traffic
