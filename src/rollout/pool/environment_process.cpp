// The main function of environment programs, such as sumo_env. A rollout worker starts the program.
// The process runs every episode in a child process.
#include <fmt/format.h>

#include <charconv>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "environment_loop.h"
#include "layout.h"
#include "pool_memory.h"
#include "slot.h"
#include "traffic/core/error.h"
#include "traffic/os/child_process.h"
#include "traffic/rollout/pool/processes.h"

namespace traffic::rollout {
namespace {

/// Maximum seconds of one wait for a command; then the process waits again. The wait may be long,
/// because the kernel ends this process when its rollout worker ends.
constexpr double kPatienceS = 3600.0;

/// Arguments of the command line, which a rollout worker sets.
struct Arguments {
  std::uint32_t env = 0;          ///< index of the environment on this node
  std::uint32_t incarnation = 0;  ///< how many processes have been started for it, with this one
};

template <typename T>
bool parse_number(std::string_view text, T& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc{} && end == text.data() + text.size();
}

std::optional<Arguments> parse(int argc, char** argv) {
  Arguments arguments;
  if (argc != 5) return std::nullopt;
  const bool understood =
      std::string_view(argv[1]) == "--env" && parse_number(argv[2], arguments.env) &&
      std::string_view(argv[3]) == "--incarnation" && parse_number(argv[4], arguments.incarnation);
  return understood ? std::optional(arguments) : std::nullopt;
}

int failure(const std::exception& error) {
  fmt::print(stderr, "{}\n", error.what());
  return static_cast<int>(ExitCode::kWorkers);
}

[[noreturn]] void serve(const Arguments& arguments, const EnvMaker& make) {
  const os::Descriptor file(kSharedFd);
  os::Mapping head = map_pool_memory(file, 0, sizeof(PoolHead), os::Access::kReadOnly);
  check_head(head.bytes());
  const Geometry geometry = head_of(head.bytes()).geometry;
  if (arguments.env >= geometry.num_envs) {
    throw WorkerError(
        "--env {}: expected a number below {}, the number of simulations on this node",
        arguments.env, geometry.num_envs);
  }
  head = map_pool_memory(file, 0, geometry.head_bytes(), os::Access::kReadOnly);
  const os::Mapping bells = map_pool_memory(file, geometry.bells_offset(), geometry.bells_bytes(),
                                            os::Access::kReadWrite);
  const os::Mapping memory = map_pool_memory(file, geometry.slot_offset(arguments.env),
                                             geometry.slot_bytes(), os::Access::kReadWrite);
  EnvSlot slot(slot_view(memory.bytes(), geometry),
               bell_of(bells.bytes(), geometry.rank_of_env(arguments.env)), arguments.incarnation);
  const auto text = settings_of(head.bytes());
  const EnvPlace place{.env = number_of_env(head.bytes(), arguments.env),
                       .incarnation = arguments.incarnation};
  // Each episode runs in a process of its own; run_environment_process() in processes.h tells why.
  const auto in_own_process = [&](const std::function<void(Environment&)>& use) {
    const auto body = [&] {
      try {
        use(*make({text.data(), text.size()}, place));
        return 0;
      } catch (const std::exception& error) {
        slot.explain_end(fmt::format("failed: {}", error.what()));
        return failure(error);
      }
    };
    const os::Exit exit = os::ChildProcess::fork(body).wait_alike();
    if (!exit.well()) exit.repeat();
  };
  in_own_process([](Environment& environment) { environment.try_out(); });
  slot.announce_ready();
  while (true) {
    in_own_process([&](Environment& environment) {
      EnvironmentLoop loop(environment, slot);
      while (loop.serve(kPatienceS)) {
      }
    });
  }
}

}  // namespace

int run_environment_process(int argc, char** argv, const EnvMaker& make) {
  const auto arguments = parse(argc, argv);
  if (!arguments) {
    fmt::print(stderr,
               "{} cannot be started by hand: rollout_worker starts it and shares memory with it\n",
               std::filesystem::path(argv[0]).filename().string());
    return static_cast<int>(ExitCode::kConfig);
  }
  try {
    serve(*arguments, make);
  } catch (const std::exception& error) {
    return failure(error);
  }
}

}  // namespace traffic::rollout
