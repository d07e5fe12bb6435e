// A program on several ranks that the process tests start and make fail in a chosen way.
// Usage: comm_probe HOW TOKEN; the token marks the processes of one test.
#include <ATen/ATen.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <string>

#include "comm/mpi_communicator.h"
#include "traffic/comm/communicator.h"
#include "traffic/core/error.h"

namespace traffic::comm {
namespace {

constexpr int kSteps = 200;
constexpr int kFaultStep = 20;

/// Makes this rank fail in the chosen way.
void act(const std::string& how, Communicator& communicator) {
  if (how == "stop") raise(SIGSTOP);
  if (how == "kill") raise(SIGKILL);
  if (how == "segv") raise(SIGSEGV);
  if (how == "exit") _exit(0);
  if (how == "throw") throw DataError("shard 7 is damaged");
  if (how == "other") throw std::out_of_range("index 9\nwith a second line");
  if (how == "memory") throw std::bad_alloc();
  if (how == "skip") communicator.broadcast(at::zeros({3}), 0);
  if (how == "shape") communicator.all_reduce(at::zeros({3}));
}

int work(MpiSession& session, const std::string& how) {
  const bool is_last = session.rank() == session.size() - 1;
  if (how == "stop-at-start" && is_last) raise(SIGSTOP);
  MpiCommunicator communicator(session, {.timeout_s = 1.0, .init_timeout_s = 1.0});
  const at::Tensor arena = communicator.shared_zeros(100000, at::kFloat);
  for (int step = 0; step < kSteps; ++step) {
    if (is_last && step == kFaultStep) act(how, communicator);
    arena.fill_(1.0);
    communicator.all_reduce(arena);
    if (arena[step].item<float>() != static_cast<float>(session.size())) return 99;
    usleep(5000);
  }
  if (session.rank() == 0) std::puts("all steps done");
  return how == "stopped" ? static_cast<int>(ExitCode::kStopped) : 0;
}

}  // namespace
}  // namespace traffic::comm

int main(int argc, char** argv) {
  if (argc != 3) return 98;
  const std::string how = argv[1];
  return traffic::comm::run_mpi_program(argc, argv, [&](traffic::comm::MpiSession& session) {
    return traffic::comm::work(session, how);
  });
}
