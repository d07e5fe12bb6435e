/// Looks whether this machine has what training needs. Every rank runs it, as it would run
/// training.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "traffic/comm/mpi_session.h"
#include "traffic/config/command_line.h"
#include "traffic/config/write.h"
#include "traffic/core/error.h"
#include "traffic/train/doctor.h"

namespace {

using namespace traffic;

struct Arguments {
  config::Config config;
  bool prints_json = false;
};

/// Nothing when the command line only asked for some text, which is printed.
std::optional<Arguments> read_command_line(int argc, char** argv, bool speaks) {
  Arguments arguments;
  const config::Program program{
      .name = "traffic_doctor",
      .description =
          "Looks at what training needs of this machine: ranks, devices, communication, "
          "simulations, folder. Start it like traffic_train, with the same "
          "configuration.",
      .add_options = [&arguments](CLI::App& app) {
        app.add_flag("--json", arguments.prints_json, "Print what is found as JSON");
      }};
  const auto parsed = config::parse_command_line(argc, argv, program);
  if (const auto* exit = std::get_if<config::ExitRequest>(&parsed)) {
    if (speaks) std::fputs(exit->text.c_str(), stdout);
    return std::nullopt;
  }
  const auto& options = std::get<config::CommonOptions>(parsed);
  const config::Plan plan = config::resolve_plan(options);
  arguments.config = plan.whole;
  if (options.print_config) {
    if (speaks) std::fputs(config::to_toml(plan).c_str(), stdout);
    return std::nullopt;
  }
  return arguments;
}

int run_examination(const Arguments& arguments, const comm::MpiSession& session) {
  const std::vector<train::Finding> findings = train::examine(session, arguments.config);
  const std::string text =
      arguments.prints_json ? train::to_json(findings) : train::to_text(findings);
  if (session.rank() == 0) std::fputs(text.c_str(), stdout);
  return static_cast<int>(train::exit_code(findings));
}

}  // namespace

int main(int argc, char** argv) {
  const char* rank = std::getenv("OMPI_COMM_WORLD_RANK");
  const bool speaks = rank == nullptr || std::string_view(rank) == "0";
  std::optional<Arguments> arguments;
  try {
    arguments = read_command_line(argc, argv, speaks);
  } catch (const Error& error) {
    if (speaks) std::fprintf(stderr, "%s\n", error.what());
    return static_cast<int>(error.code());
  }
  if (!arguments) return static_cast<int>(ExitCode::kDone);
  return comm::run_mpi_program(
      argc, argv, [&](comm::MpiSession& session) { return run_examination(*arguments, session); });
}
