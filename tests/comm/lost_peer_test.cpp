// Checks that a communicator detects and names a rank that does not take part in an operation or
// that begins a different one. No rank may wait for ever.
#include <ATen/ATen.h>
#include <gmock/gmock.h>

#include <sys/wait.h>

#include <csignal>
#include <functional>

#include "backends.h"
#include "comm/node_channel.h"
#include "traffic/os/child_process.h"

namespace traffic::comm {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

/// The text of the CommError that `action` throws; empty if it throws none.
std::string error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const CommError& error) {
    return error.what();
  }
  return {};
}

class LostPeerTest : public BackendTest {
 protected:
  void SetUp() override {
    BackendTest::SetUp();
    if (HasFatalFailure()) return;
    last_ = testing::mpi_session().size() - 1;
    is_last_ = testing::mpi_session().rank() == last_;
  }
  /// Waits for all ranks without using the communicator under test.
  static void meet() { testing::mpi_session().rendezvous("end of a test", 30); }

  int last_ = 0;
  bool is_last_ = false;
};

TEST_P(LostPeerTest, NamesTheRankThatDoesNotTakePart) {
  const auto comm = make_backend(GetParam(), 0.5);
  comm->barrier();
  if (!is_last_) {
    const std::string error = error_of([&] { comm->all_reduce_scalar(1.0); });
    EXPECT_THAT(error, AllOf(HasSubstr("all_reduce #2"), HasSubstr("did not come within"),
                             HasSubstr("rank " + std::to_string(last_))));
  }
  meet();
}

TEST_P(LostPeerTest, ALateRankLearnsThatTheOthersGaveUp) {
  const auto comm = make_backend(GetParam(), 0.5);
  if (!is_last_) error_of([&] { comm->barrier(); });
  meet();
  if (is_last_) {
    EXPECT_THAT(error_of([&] { comm->barrier(); }), HasSubstr("barrier #1"));
  }
  meet();
}

TEST_P(LostPeerTest, DetectsASkippedCollective) {
  const auto comm = make_backend(GetParam());
  const at::Tensor tensor = at::ones({100});
  const std::string error = error_of([&] {
    if (!is_last_) comm->all_reduce(tensor);
    comm->broadcast(tensor, 0);
  });
  EXPECT_THAT(error, AllOf(HasSubstr("all_reduce #1"), HasSubstr("broadcast #1"),
                           HasSubstr("rank " + std::to_string(last_))));
  meet();
}

TEST_P(LostPeerTest, DetectsTensorsOfDifferentSize) {
  const auto comm = make_backend(GetParam());
  const at::Tensor tensor = at::ones({is_last_ ? 100 : 101});
  EXPECT_THAT(error_of([&] { comm->all_reduce(tensor); }),
              AllOf(HasSubstr("400 bytes"), HasSubstr("404 bytes"), HasSubstr("different shapes")));
  meet();
}

TEST_P(LostPeerTest, DetectsDifferentTypesRootsAndReductions) {
  const std::vector<std::function<void(Communicator&)>> calls = {
      [&](Communicator& c) { c.all_reduce(at::ones({2}, is_last_ ? at::kDouble : at::kLong)); },
      [&](Communicator& c) { c.broadcast(at::ones({2}), is_last_ ? 1 : 0); },
      [&](Communicator& c) {
        c.all_reduce_scalar(1.0, is_last_ ? ReduceOp::kMax : ReduceOp::kMin);
      },
  };
  for (const auto& call : calls) {
    const auto comm = make_backend(GetParam());
    EXPECT_THAT(error_of([&] { call(*comm); }), HasSubstr("different paths"));
    meet();
  }
}

TEST_P(LostPeerTest, ABrokenCommunicatorStaysBroken) {
  const auto comm = make_backend(GetParam());
  error_of([&] { comm->all_reduce(at::ones({is_last_ ? 1 : 2})); });
  EXPECT_THAT(error_of([&] { comm->barrier(); }), HasSubstr("an earlier operation has failed"));
  meet();
}

INSTANTIATE_TEST_SUITE_P(Backends, LostPeerTest, ::testing::ValuesIn(mpi_backends()), backend_name);

TEST(LostPeerOnOneNodeTest, DoesNotWaitForARankThatHasFinished) {
  const auto& session = testing::mpi_session();
  ASSERT_GE(session.size(), 2);
  auto comm = make_backend({"OneNode"}, 300);
  const int last = session.size() - 1;
  if (session.rank() == last) {
    comm.reset();
  } else {
    EXPECT_THAT(error_of([&] { comm->barrier(); }), HasSubstr("rank " + std::to_string(last)));
  }
  session.rendezvous("end of a test", 30);
}

TEST(LostPeerOnOneNodeTest, RefusesToReduceAnArenaTogetherWithOtherMemory) {
  const auto& session = testing::mpi_session();
  ASSERT_GE(session.size(), 2);
  const auto comm = make_backend({"OneNode"});
  at::Tensor tensor = comm->shared_zeros(10000, at::kFloat);
  if (session.rank() == 0) tensor = at::zeros({10000});
  EXPECT_THAT(error_of([&] { comm->all_reduce(tensor); }), HasSubstr("arena 1"));
  session.rendezvous("end of a test", 30);
}

TEST(LostPeerOnOneNodeTest, AZombieCountsAsDead) {
  const NodeMemory memory = create_node_memory(NodeChannel::segment_bytes(2));
  const auto map = [&] {
    NodeMemory again;
    again.mapping = os::Mapping(memory.file, 0, memory.size(), os::Access::kReadWrite);
    return again;
  };
  // Rank 1 registers in the shared memory and is killed. No process reaps it, so it stays a zombie.
  auto peer = os::ChildProcess::fork([&] {
    const NodeChannel channel(map(), {0, 1}, 1);
    return raise(SIGKILL);
  });
  siginfo_t info{};
  ASSERT_EQ(waitid(P_PID, static_cast<id_t>(peer.pid()), &info, WEXITED | WNOWAIT), 0);
  NodeChannel channel(map(), {0, 1}, 0);
  const OpHeader header{.op = OpCode::kBarrier};
  const Deadline deadline(20);
  EXPECT_THAT(error_of([&] { channel.exchange(header, deadline); }), HasSubstr("is dead"));
  EXPECT_FALSE(deadline.passed()) << "the dead rank must be detected before the deadline";
  testing::mpi_session().rendezvous("end of a test", 60);
}

}  // namespace
}  // namespace traffic::comm
