#include <gmock/gmock.h>

#include <set>

#include "comm/node_memory.h"
#include "comm/node_segment.h"
#include "mpi_main.h"

namespace traffic::comm {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(TopologyTest, NumbersNodesByTheirLowestRank) {
  // The assignment of ranks to three nodes by mpirun --map-by node.
  const Topology topology = make_topology(4, {9, 5, 7, 9, 5, 7, 9});
  EXPECT_THAT(topology.node_of_rank, ElementsAre(0, 1, 2, 0, 1, 2, 0));
  EXPECT_THAT(topology.leaders, ElementsAre(0, 1, 2));
  EXPECT_THAT(topology.local_ranks, ElementsAre(1, 4));
  EXPECT_EQ(topology.local_rank(), 1);
  EXPECT_EQ(topology.node(), 1);
  EXPECT_FALSE(topology.is_leader());
}

TEST(TopologyTest, RefusesARankThatDoesNotExist) {
  EXPECT_THROW(make_topology(2, {0, 0}), CommError);
}

TEST(MpiSessionTest, FindsAllRanksOnThisMachine) {
  const MpiSession& session = testing::mpi_session();
  EXPECT_EQ(session.num_nodes(), 1);
  EXPECT_EQ(session.local_size(), session.size());
  EXPECT_EQ(session.local_rank(), session.rank());
}

TEST(NodeMemoryTest, TooLittleMemoryNamesBothSizesAndARemedy) {
  EXPECT_NO_THROW(require_memory(100, 100));
  try {
    require_memory(std::int64_t{120} << 20, std::int64_t{64} << 20);
    FAIL();
  } catch (const ResourceError& error) {
    EXPECT_THAT(error.what(), HasSubstr("120.0 MiB"));
    EXPECT_THAT(error.what(), HasSubstr("64.0 MiB"));
    EXPECT_THAT(error.what(), HasSubstr("--memory"));
  }
}

TEST(NodeMemoryTest, IsZeroedAndOutlivesItsDescriptor) {
  NodeMemory segment = create_node_memory(100000);
  segment.file.reset();
  const std::set<std::byte> values(segment.data(), segment.data() + segment.size());
  EXPECT_THAT(values, ElementsAre(std::byte{0}));
}

TEST(NodeSegmentTest, NamesTheRankThatDoesNotTakePart) {
  const MpiSession& session = testing::mpi_session();
  ASSERT_GE(session.size(), 2) << "start this test under mpirun -np 2";
  const int last = session.size() - 1;
  MpiComm node = MpiComm::split(MPI_Comm_f2c(session.fortran_comm()), 0, session.rank());
  if (session.rank() != last) {
    try {
      share_on_node(node.get(), 4096, 0.5);
      ADD_FAILURE() << "expected an error: a rank did not take part";
    } catch (const CommError& error) {
      EXPECT_THAT(error.what(), HasSubstr("rank " + std::to_string(last) + " did not come"));
    }
  }
  session.rendezvous("end of a test", 30);
  // Messages to the missing rank are still in flight, so freeing the communicator would fail.
  node.release();
}

}  // namespace
}  // namespace traffic::comm
