/// Lists the communicators that the ranks of a test can use on this machine, so that each test can
/// run with every one of them.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "comm/mpi_communicator.h"
#include "mpi_main.h"

#ifdef TRAFFIC_CUDA
#include <c10/cuda/CUDAFunctions.h>
#endif

namespace traffic::comm {

/// A kind of communicator. Some backends pretend that the ranks run on several nodes.
struct Backend {
  std::string name;
  int (*node_of)(int rank) = nullptr;  ///< node of each rank for the MPI backend; null means that
                                       ///< all ranks are on one node
  bool on_cuda = false;                ///< whether the backend is NCCL
};

inline std::vector<Backend> mpi_backends() {
  return {{"OneNode"},
          {"OneRankANode", [](int rank) { return rank; }},
          {"TwoRanksANode", [](int rank) { return rank / 2; }},
          {"TwoNodesInTurn", [](int rank) { return rank % 2; }}};
}

/// The MPI backends, and NCCL if every rank of the node has a GPU.
inline std::vector<Backend> all_backends() {
  auto backends = mpi_backends();
#ifdef TRAFFIC_CUDA
  const char* local_size = std::getenv("OMPI_COMM_WORLD_LOCAL_SIZE");
  const int ranks = local_size == nullptr ? 1 : std::atoi(local_size);
  if (c10::cuda::device_count() >= ranks) backends.push_back({"Nccl", nullptr, true});
#endif
  return backends;
}

/// Creates a communicator of this backend. All ranks must call the function (collective).
inline std::unique_ptr<Communicator> make_backend(const Backend& backend, double timeout_s = 30) {
  const MpiSession& session = testing::mpi_session();
  if (backend.on_cuda) {
    const auto gpu = static_cast<c10::DeviceIndex>(session.local_rank());
    return make_communicator(session, at::Device(at::kCUDA, gpu), {.timeout_s = timeout_s});
  }
  MpiCommunicatorOptions options{.timeout_s = timeout_s, .init_timeout_s = 30};
  for (int rank = 0; backend.node_of != nullptr && rank < session.size(); ++rank) {
    options.node_of_rank.push_back(backend.node_of(rank));
  }
  return std::make_unique<MpiCommunicator>(session, options);
}

/// Base of tests with a backend as parameter. They fail on a single rank, where they would prove
/// nothing.
class BackendTest : public ::testing::TestWithParam<Backend> {
 protected:
  void SetUp() override {
    ASSERT_GE(testing::mpi_session().size(), 2) << "start this test under mpirun -np 2";
  }
};

inline std::string backend_name(const ::testing::TestParamInfo<Backend>& info) {
  return info.param.name;
}

}  // namespace traffic::comm
