#include "traffic/os/shared_memory.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <algorithm>
#include <system_error>

#include "traffic/os/child_process.h"
#include "traffic/os/futex.h"

namespace traffic::os {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

TEST(SharedMemory, IsZeroedAndOutlivesItsDescriptor) {
  for (const auto allocation : {Allocation::kAtOnce, Allocation::kSparse}) {
    Descriptor file = create_memory_file("traffic_test", 100000, allocation);
    const Mapping mapping(file, 0, 100000, Access::kReadWriteTouched);
    file.reset();
    EXPECT_TRUE(std::all_of(mapping.bytes().begin(), mapping.bytes().end(),
                            [](std::byte b) { return b == std::byte{0}; }));
  }
}

TEST(SharedMemory, AnotherProcessMapsIt) {
  const Descriptor file = create_memory_file("traffic_test", 4096, Allocation::kSparse);
  const Mapping mapping(file, 0, 4096, Access::kReadWrite);
  const pid_t owner = getpid();
  auto child = ChildProcess::fork([&] {
    const Descriptor opened = open_memory_file_of(owner, file.get(), "traffic_test");
    Mapping(opened, 0, 4096, Access::kReadWrite).bytes()[7] = std::byte{1};
    return 0;
  });
  EXPECT_TRUE(child.wait().well());
  EXPECT_EQ(mapping.bytes()[7], std::byte{1});
}

TEST(SharedMemory, AMappingBeyondTheEndIsRefused) {
  const Descriptor file = create_memory_file("traffic_test", 4096, Allocation::kSparse);
  EXPECT_THAT([&] { Mapping(file, 4096, 1, Access::kReadOnly); },
              ThrowsMessage<std::system_error>(
                  HasSubstr("the memory has 4096 bytes, expected at least 4097")));
}

TEST(SharedMemory, MemoryOfAnotherNameOrNoneIsNotOpened) {
  const Descriptor file = create_memory_file("traffic_other", 4096, Allocation::kSparse);
  EXPECT_THAT([&] { (void)open_memory_file_of(getpid(), file.get(), "traffic_test"); },
              ThrowsMessage<std::system_error>(HasSubstr("not the memory traffic_test")));
  EXPECT_THAT([] { (void)open_memory_file_of(getpid(), 999, "traffic_test"); },
              ThrowsMessage<std::system_error>(HasSubstr("/fd/999")));
}

TEST(SharedMemory, AMappingIsEmptyWhenMovedFrom) {
  const Descriptor file = create_memory_file("traffic_test", 4096, Allocation::kSparse);
  Mapping mapping(file, 0, 4096, Access::kReadOnly);
  const Mapping moved = std::move(mapping);
  EXPECT_TRUE(mapping.bytes().empty());
  EXPECT_EQ(moved.bytes().size(), 4096U);
}

TEST(Futex, SleepsUntilAnotherProcessWakesItOrTheTimeIsUp) {
  using Word = std::atomic<std::uint32_t>;
  const Descriptor file = create_memory_file("traffic_test", 4096, Allocation::kSparse);
  const Mapping mapping(file, 0, 4096, Access::kReadWrite);
  auto& word = *reinterpret_cast<Word*>(mapping.bytes().data());
  EXPECT_FALSE(sleep_while_equal(word, 0, 0.01));
  EXPECT_TRUE(sleep_while_equal(word, 1, 60))
      << "the word has another value already, so nothing must sleep";
  auto child = ChildProcess::fork([&] {
    word = 1;
    wake_all(word);
    return 0;
  });
  while (word == 0) sleep_while_equal(word, 0, 60);
  EXPECT_TRUE(child.wait().well());
}

}  // namespace
}  // namespace traffic::os
