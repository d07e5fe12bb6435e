#include "traffic/train/run/program.h"

#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "traffic/config/write.h"
#include "traffic/core/error.h"

namespace traffic::train {
namespace {

/// Reads the command line and the configuration.
/// @param speaks whether this process prints the text that the user asked for, such as the help
/// @return nothing if the command line only asks for such a text
std::optional<Start> read_command_line(int argc, char** argv, const config::Program& program,
                                       bool speaks) {
  const auto parsed = config::parse_command_line(argc, argv, program);
  std::string text;
  std::optional<Start> start;
  if (const auto* exit = std::get_if<config::ExitRequest>(&parsed)) {
    text = exit->text;
  } else {
    const auto& options = std::get<config::CommonOptions>(parsed);
    start = Start{.options = options, .plan = config::resolve_plan(options)};
    if (options.print_config) {
      text = config::to_toml(start->plan);
      start.reset();
    }
  }
  if (speaks) std::fputs(text.c_str(), stdout);
  return start;
}

}  // namespace

int run_rank_program(int argc, char** argv, const config::Program& program,
                     const std::function<int(const Start&, comm::MpiSession&)>& body,
                     const WorkWithoutMpi& first) {
  const char* rank = std::getenv("OMPI_COMM_WORLD_RANK");
  const bool speaks = rank == nullptr || std::string_view(rank) == "0";
  std::optional<Start> start;
  try {
    start = read_command_line(argc, argv, program, speaks);
    if (start && first) {
      if (const auto code = first(*start, speaks)) return *code;
    }
  } catch (const Error& error) {
    return comm::fail_before_session(error);
  }
  if (!start) return static_cast<int>(ExitCode::kDone);
  // Switches off the messages of libtorch's profiler, which are not for users. Setting a variable
  // is safe here, because no other thread runs yet.
  ::setenv("KINETO_LOG_LEVEL", "99", /*overwrite=*/0);
  return comm::run_mpi_program(argc, argv,
                               [&](comm::MpiSession& session) { return body(*start, session); });
}

}  // namespace traffic::train
