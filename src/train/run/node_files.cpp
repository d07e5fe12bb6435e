#include "run/node_files.h"

#include <fmt/ranges.h>
#include <spdlog/spdlog.h>
#include <torch/types.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <iterator>
#include <string>
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

constexpr double kShowsUp_s = 3.0;  ///< a network file system may take that long to show a file
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

/// Whether the leader of each node has said yes, on every rank. @return [nodes]
std::vector<bool> ask_nodes(comm::Communicator& communicator, bool mine) {
  const comm::Topology& topology = communicator.topology();
  const torch::Tensor all =
      communicator.all_gather(torch::full({1}, mine ? 1 : 0, torch::kLong)).view({-1});
  std::vector<bool> of_nodes;
  for (const int leader : topology.leaders)
    of_nodes.push_back(all[leader].item<std::int64_t>() != 0);
  return of_nodes;
}

/// "size hash" of a file; empty if there is none.
std::string identity_of(const fs::path& path) {
  std::error_code error;
  if (path.empty() || !fs::is_regular_file(path, error)) return {};
  const std::string content = content_of(path);
  return fmt::format("{} {}", content.size(), hex64(xxh3_64(content)));
}

/// What rank 0 has, on all ranks.
std::string share_content(comm::Communicator& communicator, const fs::path& path,
                          std::int64_t size) {
  std::string content =
      communicator.rank() == 0 ? content_of(path) : std::string(static_cast<std::size_t>(size), 0);
  for (std::int64_t begin = 0; begin < size; begin += kPieceBytes) {
    const torch::Tensor piece = torch::from_blob(
        content.data() + begin, {std::min(kPieceBytes, size - begin)}, torch::kByte);
    communicator.broadcast(piece, 0);
  }
  return content;
}

}  // namespace

std::string open_on_nodes(comm::Communicator& device_communicator, const fs::path& folder) {
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
  if (blind.empty()) return {};
  return fmt::format(
      "{} {} not see the run folder of {}: logs of the ranks there are in {} there, checkpoints "
      "and "
      "results on {} only; what is read from them is copied over",
      fmt::join(blind, ", "), blind.size() == 1 ? "does" : "do", hostname(), folder.string(),
      hostname());
}

void bring_file(comm::Communicator& device_communicator, const fs::path& path) {
  comm::Communicator& communicator = device_communicator.host();
  const comm::Topology& topology = communicator.topology();
  if (topology.num_nodes() == 1 || path.empty()) return;
  const std::string mine = topology.is_leader() ? identity_of(path) : std::string();
  const std::string wanted = communicator.broadcast_string(mine, 0);
  if (wanted.empty()) return;  // whoever reads it says what is wrong
  const std::vector<bool> have = ask_nodes(communicator, mine == wanted);
  if (std::ranges::all_of(have, [](bool has) { return has; })) return;
  const std::string content = share_content(communicator, path, std::stoll(wanted));
  together(communicator, [&] {
    if (!topology.is_leader() || have[static_cast<std::size_t>(topology.node())]) return;
    create_folder(path.parent_path());
    write_file_atomically(path, content);
    spdlog::info("{} ({}) copied from rank 0", path.string(),
                 human_bytes(static_cast<std::int64_t>(content.size())));
  });
}

}  // namespace traffic::train
