#include "traffic/comm/side_stream.h"

#include <gtest/gtest.h>

#include <latch>
#include <stdexcept>
#include <thread>
#include <vector>

#include "traffic/core/error.h"

namespace traffic::comm {
namespace {

TEST(SideStream, RunsBesideTheCallerOnTheCpu) {
  const auto stream = make_side_stream(c10::kCPU);
  std::latch caller_went_on(1);
  std::thread::id worker;
  stream->submit([&] {
    caller_went_on.wait();  // would wait for ever if submit() ran the work itself
    worker = std::this_thread::get_id();
  });
  caller_went_on.count_down();
  stream->join();
  EXPECT_NE(worker, std::this_thread::get_id());
}

TEST(SideStream, KeepsTheOrderAndJoinSeesAllWork) {
  const auto stream = make_side_stream(c10::kCPU);
  std::vector<int> done;
  for (int i = 0; i < 100; ++i) {
    stream->submit([&done, i] { done.push_back(i); });
    if (i % 10 == 9) {
      stream->join();
      ASSERT_EQ(done.size(), static_cast<std::size_t>(i) + 1);
    }
  }
  for (std::size_t i = 0; i < done.size(); ++i) EXPECT_EQ(done[i], static_cast<int>(i));
}

TEST(SideStream, JoinRethrowsAnErrorAndSkipsTheWorkAfterIt) {
  const auto stream = make_side_stream(c10::kCPU);
  bool ran = false;
  std::latch both_submitted(1);
  stream->submit([&] {
    both_submitted.wait();
    throw CommError("rank 1 did not come");
  });
  stream->submit([&] { ran = true; });
  both_submitted.count_down();
  EXPECT_THROW(stream->join(), CommError);
  EXPECT_FALSE(ran);
  stream->submit([&] { ran = true; });
  stream->join();
  EXPECT_TRUE(ran) << "a failure is reported only once";
}

TEST(SideStream, ItsDestructorWaitsForRunningWork) {
  std::latch started(1);
  bool ended = false;
  {
    const auto stream = make_side_stream(c10::kCPU);
    stream->submit([&] {
      started.count_down();
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
      ended = true;
    });
    started.wait();
  }
  EXPECT_TRUE(ended);
}

#ifndef TRAFFIC_CUDA
TEST(SideStream, AStreamOfAGpuNeedsAProgramWithCuda) {
  EXPECT_THROW(make_side_stream(at::Device(c10::kCUDA, 0)), ConfigError);
}
#endif

}  // namespace
}  // namespace traffic::comm
