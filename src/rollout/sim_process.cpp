#include <fmt/format.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <charconv>
#include <csignal>
#include <cstdio>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "child_process.h"
#include "layout.h"
#include "memory_file.h"
#include "sim_loop.h"
#include "slot.h"
#include "traffic/config/load.h"
#include "traffic/core/error.h"
#include "traffic/core/fault.h"
#include "traffic/rollout/processes.h"

namespace traffic::rollout {
namespace {

constexpr double kParentCheckS = 1.0;

struct Arguments {
  std::uint32_t env = 0;
  std::uint32_t incarnation = 0;
  pid_t parent = 0;
};

template <typename T>
bool parse_number(std::string_view text, T& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc{} && end == text.data() + text.size();
}

std::optional<Arguments> parse(int argc, char** argv) {
  Arguments arguments;
  if (argc != 7) return std::nullopt;
  const bool understood =
      std::string_view(argv[1]) == "--env" && parse_number(argv[2], arguments.env) &&
      std::string_view(argv[3]) == "--incarnation" &&
      parse_number(argv[4], arguments.incarnation) && std::string_view(argv[5]) == "--parent" &&
      parse_number(argv[6], arguments.parent);
  return understood ? std::optional(arguments) : std::nullopt;
}

/// The kernel kills this process when the worker ends; it may already have ended.
void die_with(pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) ::_exit(static_cast<int>(ExitCode::kWorkers));
}

[[noreturn]] void fail(const std::exception& error) {
  fmt::print(stderr, "{}\n", error.what());
  std::fflush(stderr);
  ::_exit(static_cast<int>(ExitCode::kWorkers));
}

void serve(const Arguments& arguments) {
  const Descriptor file(kSharedFd);
  Mapping head(file, 0, sizeof(PoolHead), Access::kReadOnly);
  check_head(head.bytes());
  const Geometry geometry = head_of(head.bytes()).geometry;
  if (arguments.env >= geometry.num_envs) {
    throw WorkerError("simulation {} of {}", arguments.env, geometry.num_envs);
  }
  head = Mapping(file, 0, geometry.head_bytes(), Access::kReadOnly);
  const Mapping bells(file, geometry.bells_offset(), geometry.bells_bytes(), Access::kReadWrite);
  const Mapping memory(file, geometry.slot_offset(arguments.env), geometry.slot_bytes(),
                       Access::kReadWrite);
  SimSlot slot(slot_view(memory.bytes(), geometry),
               bell_of(bells.bytes(), geometry.rank_of_env(arguments.env)), arguments.incarnation);
  std::unique_ptr<SimLoop> loop;  // outlives the handler: SUMO may not survive its own clean-up
  try {
    fault::hit("sumo_env.start", arguments.env, arguments.incarnation);
    const auto text = settings_of(head.bytes());
    const auto config = config::parse_stored_config(std::string_view(text.data(), text.size()),
                                                    "the resolved config");
    loop = std::make_unique<SimLoop>(config, arguments.env, slot);
    while (getppid() == arguments.parent) loop->serve(kParentCheckS);
  } catch (const std::exception& error) {
    slot.explain_end(fmt::format("failed: {}", error.what()));
    fail(error);
  }
}

}  // namespace

int run_sumo_env(int argc, char** argv) {
  const auto arguments = parse(argc, argv);
  if (!arguments) {
    fmt::print(stderr, "sumo_env is started by rollout_worker, with memory that both share\n");
    return static_cast<int>(ExitCode::kConfig);
  }
  die_with(arguments->parent);
  try {
    serve(*arguments);
    return static_cast<int>(ExitCode::kDone);
  } catch (const std::exception& error) {
    fail(error);
  }
}

}  // namespace traffic::rollout
