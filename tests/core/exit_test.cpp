#include "traffic/core/exit.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <string>

#include "traffic/os/child_process.h"

namespace traffic {
namespace {

TEST(Exit, WritesBuffersReturnsTheCodeAndRunsNoDestructor) {
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe(ends.data()), 0);
  auto child = os::ChildProcess::fork([&]() -> int {
    dup2(ends[1], STDOUT_FILENO);
    std::atexit([] { static_cast<void>(write(STDOUT_FILENO, "destructor", 10)); });
    std::setvbuf(stdout, nullptr, _IOFBF, 4096);
    std::ios::sync_with_stdio(false);
    std::cout << "stream ";
    std::fputs("stdio", stdout);
    exit_without_destructors(7);
  });
  close(ends[1]);
  std::string written;
  std::array<char, 64> part{};
  for (ssize_t size = 0; (size = read(ends[0], part.data(), part.size())) > 0;) {
    written.append(part.data(), static_cast<std::size_t>(size));
  }
  close(ends[0]);
  EXPECT_EQ(child.wait().code(), 7);
  EXPECT_EQ(written, "stream stdio");
}

}  // namespace
}  // namespace traffic
