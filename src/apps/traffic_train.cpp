/// The trainer: every rank runs this program.
#include <torch/utils.h>

#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "traffic/comm/mpi_session.h"
#include "traffic/config/command_line.h"
#include "traffic/config/write.h"
#include "traffic/core/error.h"
#include "traffic/core/signals.h"
#include "traffic/model/memory.h"
#include "traffic/train/coordinator.h"

namespace {

using namespace traffic;

const config::Program kProgram{.name = "traffic_train",
                               .description =
                                   "Trains a controller of connected vehicles. Start it with "
                                   "mpirun, one rank per GPU or per CPU share."};

struct Start {
  config::Plan plan;
  bool dry_run = false;
};

/// The configuration, or nothing when the command line only asked for some text, which is printed.
std::optional<Start> read_command_line(int argc, char** argv, bool speaks) {
  const auto parsed = config::parse_command_line(argc, argv, kProgram);
  std::string text;
  std::optional<Start> start;
  if (const auto* exit = std::get_if<config::ExitRequest>(&parsed)) {
    text = exit->text;
  } else {
    const auto& options = std::get<config::CommonOptions>(parsed);
    start = Start{.plan = config::resolve_plan(options), .dry_run = options.dry_run};
    if (options.print_config) {
      text = config::to_toml(start->plan);
      start.reset();
    }
  }
  if (speaks) std::fputs(text.c_str(), stdout);
  return start;
}

int run_training(const Start& start, comm::MpiSession& session) {
  install_stop_handlers();
  model::pool_all_tensors();
  torch::set_num_threads(train::choose_threads(start.plan.whole.run.threads_per_rank, session));
  train::Job job(start.plan, session);
  if (start.dry_run) {
    train::dry_run_plan(job, start.plan);
    return static_cast<int>(ExitCode::kDone);
  }
  return static_cast<int>(train::exit_code(train::run_plan(job, start.plan)));
}

}  // namespace

int main(int argc, char** argv) {
  // What is wrong with the command line or the configuration is said once, before MPI, a GPU or a
  // simulation starts.
  const char* rank = std::getenv("OMPI_COMM_WORLD_RANK");
  const bool speaks = rank == nullptr || std::string_view(rank) == "0";
  std::optional<Start> start;
  try {
    start = read_command_line(argc, argv, speaks);
  } catch (const Error& error) {
    if (speaks) std::fprintf(stderr, "%s\n", error.what());
    return static_cast<int>(error.code());
  }
  if (!start) return static_cast<int>(ExitCode::kDone);
  return comm::run_mpi_program(
      argc, argv, [&](comm::MpiSession& session) { return run_training(*start, session); });
}
