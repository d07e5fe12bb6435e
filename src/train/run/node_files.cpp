#include "run/node_files.h"

#include <fmt/ranges.h>
#include <spdlog/spdlog.h>
#include <torch/types.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <vector>

#include "run/folder_choice.h"
#include "run/together.h"
#include "traffic/core/atomic_file.h"
#include "traffic/core/clock.h"
#include "traffic/core/error.h"
#include "traffic/core/hash.h"
#include "traffic/core/process.h"
#include "traffic/core/text.h"

namespace traffic::train {
namespace {

namespace fs = std::filesystem;

constexpr double kShowsUp_s = 3.0;  ///< a network file system may take this long to show a new file
constexpr std::int64_t kPieceBytes = std::int64_t{64} << 20;

std::string content_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

bool shows_up(const fs::path& path, const std::string& content) {
  const Stopwatch clock;
  while (content_of(path) != content) {
    if (clock.seconds() > kShowsUp_s) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  return true;
}

/// Gathers a yes or no from the leader of each node (one rank of the node). Collective.
/// @return [nodes] the answers, on every rank
std::vector<bool> ask_nodes(comm::Communicator& communicator, bool mine) {
  const comm::Topology& topology = communicator.topology();
  const torch::Tensor all =
      communicator.all_gather(torch::full({1}, mine ? 1 : 0, torch::kLong)).view({-1});
  std::vector<bool> of_nodes;
  for (const int leader : topology.leaders)
    of_nodes.push_back(all[leader].item<std::int64_t>() != 0);
  return of_nodes;
}

/// Identifies the content of a file, as "<size> <hash>"; empty if there is no file.
std::string identity_of(const fs::path& path) {
  std::error_code error;
  if (path.empty() || !fs::is_regular_file(path, error)) return {};
  const std::string content = content_of(path);
  return fmt::format("{} {}", content.size(), hex64(xxh3_64(content)));
}

}  // namespace

FolderView open_on_nodes(comm::Communicator& device_communicator, const fs::path& folder) {
  comm::Communicator& communicator = device_communicator.host();
  if (communicator.topology().num_nodes() == 1) return {};
  const fs::path token = folder / fmt::format(".seen-by-all-{}", getpid());
  const std::string name = communicator.broadcast_string(token.string(), 0);
  const std::string content = communicator.broadcast_string(
      fmt::format("{} {} {}", hostname(), getpid(), monotonic_ns()), 0);
  if (communicator.rank() == 0) write_file_atomically(name, content);
  communicator.barrier();
  const bool leads = communicator.topology().is_leader();
  const std::vector<bool> sees = ask_nodes(communicator, leads && shows_up(name, content));
  const bool seen = sees[static_cast<std::size_t>(communicator.topology().node())];
  together(communicator, [&] {
    if (leads && !seen) create_folder(folder);
  });
  if (communicator.rank() == 0) fs::remove(name);
  const auto hosts = communicator.gather_strings(hostname(), 0);
  std::vector<std::string> blind;
  for (std::size_t node = 0; communicator.rank() == 0 && node < sees.size(); ++node) {
    const auto leader = static_cast<std::size_t>(communicator.topology().leaders[node]);
    if (!sees[node]) blind.push_back(hosts[leader]);
  }
  FolderView view{
      .all_see = std::ranges::all_of(sees, [](bool one) { return one; }), .seen = seen, .note = {}};
  if (blind.empty()) return view;
  view.note = fmt::format(
      "{} {} not see the run folder of {}: ranks on such a node write their logs to {} on their "
      "own node; checkpoints and results are only on {}; files that these ranks read are copied "
      "there",
      fmt::join(blind, ", "), blind.size() == 1 ? "does" : "do", hostname(), folder.string(),
      hostname());
  return view;
}

void bring_file(comm::Communicator& device_communicator, const fs::path& path) {
  comm::Communicator& communicator = device_communicator.host();
  const comm::Topology& topology = communicator.topology();
  if (topology.num_nodes() == 1 || path.empty()) return;
  const std::string mine = topology.is_leader() ? identity_of(path) : std::string();
  const std::string wanted = communicator.broadcast_string(mine, 0);
  if (wanted.empty()) return;  // the code that reads the file reports the error
  const std::vector<bool> have = ask_nodes(communicator, mine == wanted);
  if (std::ranges::all_of(have, [](bool has) { return has; })) return;
  const bool lacks = topology.is_leader() && !have[static_cast<std::size_t>(topology.node())];
  const SharedFile file{.path = path, .bytes = std::stoll(wanted)};
  copy_from_rank_0(communicator, file, lacks ? path : fs::path());
  if (lacks) spdlog::info("copied {} ({}) from rank 0", path.string(), human_bytes(file.bytes));
}

void copy_from_rank_0(comm::Communicator& device_communicator, const SharedFile& file,
                      const fs::path& target) {
  comm::Communicator& communicator = device_communicator.host();
  std::ifstream in;
  std::optional<AtomicFile> kept;
  std::ofstream out;
  const auto check = [&](const std::ios& stream, std::string_view action, const fs::path& path) {
    if (!stream) throw io_error(action, path, errno);
  };
  together(communicator, [&] {
    if (communicator.rank() == 0) {
      in.open(file.path, std::ios::binary);
      check(in, "open", file.path);
    }
    if (target.empty()) return;
    create_folder(target.parent_path());
    kept.emplace(target);
    out.open(kept->temp_path(), std::ios::binary);
    check(out, "create", target);
  });
  std::vector<char> buffer(static_cast<std::size_t>(std::min(kPieceBytes, file.bytes)));
  for (std::int64_t begin = 0; begin < file.bytes; begin += kPieceBytes) {
    const std::int64_t bytes = std::min(kPieceBytes, file.bytes - begin);
    together(communicator, [&] {
      if (communicator.rank() != 0) return;
      in.read(buffer.data(), bytes);
      check(in, "read", file.path);
    });
    communicator.broadcast(torch::from_blob(buffer.data(), {bytes}, torch::kByte), 0);
    together(communicator, [&] {
      if (target.empty()) return;
      out.write(buffer.data(), bytes);
      check(out, "write", target);
    });
  }
  together(communicator, [&] {
    if (target.empty()) return;
    out.close();
    check(out, "write", target);
    kept->commit();
  });
}

}  // namespace traffic::train
