// The main function of tests on several ranks. Every rank runs all tests. Rank 0 prints the
// results, the other ranks print only their failures. A failure on any rank fails the program on
// all ranks.
#include "mpi_main.h"

#include <gtest/gtest.h>
#define OMPI_SKIP_MPICXX 1
#include <mpi.h>

#include <cstdio>

namespace traffic::testing {
namespace {

comm::MpiSession* current_session = nullptr;

class FailurePrinter : public ::testing::EmptyTestEventListener {
 public:
  explicit FailurePrinter(int rank) : rank_(rank) {}

 private:
  void OnTestPartResult(const ::testing::TestPartResult& result) override {
    if (!result.failed()) return;
    std::fprintf(stderr, "[rank %d] %s:%d: %s\n", rank_,
                 result.file_name() == nullptr ? "?" : result.file_name(), result.line_number(),
                 result.summary());
  }
  int rank_;
};

int run_all(comm::MpiSession& session) {
  current_session = &session;
  auto& listeners = ::testing::UnitTest::GetInstance()->listeners();
  if (session.rank() != 0) {
    delete listeners.Release(listeners.default_result_printer());
    listeners.Append(new FailurePrinter(session.rank()));  // owned by the list
  }
  const int mine = RUN_ALL_TESTS();
  session.rendezvous("end of the tests", 60);
  int worst = 0;
  const MPI_Comm world = MPI_Comm_f2c(session.fortran_comm());
  MPI_Allreduce(&mine, &worst, 1, MPI_INT, MPI_MAX, world);
  return worst;
}

}  // namespace

comm::MpiSession& mpi_session() { return *current_session; }

}  // namespace traffic::testing

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  return traffic::comm::run_mpi_program(argc, argv, traffic::testing::run_all);
}
