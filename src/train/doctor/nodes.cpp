/// Compares the files that must be the same on all nodes of a job: the programs and the data files.
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <utility>

#include "doctor/findings.h"
#include "traffic/core/error.h"
#include "traffic/core/hash.h"
#include "traffic/core/process.h"
#include "traffic/data/reader.h"
#include "traffic/rollout/pool/worker_pool.h"

namespace traffic::train {
namespace {

namespace fs = std::filesystem;

constexpr std::array kPrograms{"traffic_train", "traffic_eval", "rollout_worker", "sumo_env"};
constexpr std::size_t kEndBytes = std::size_t{1} << 20;

/// The size of a file and a hash of its first and last MiB; "missing" if there is no such file.
/// These parts are enough to distinguish recordings, and the program need not read gigabytes.
std::string identity_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary | std::ios::ate);
  if (!in) return "missing";
  const auto size = static_cast<std::size_t>(in.tellg());
  std::string part(std::min(size, kEndBytes), '\0');
  Hasher hasher;
  for (const std::size_t begin : {std::size_t{0}, size - part.size()}) {
    in.seekg(static_cast<std::streamoff>(begin));
    in.read(part.data(), static_cast<std::streamsize>(part.size()));
    hasher.update(part);
  }
  return fmt::format("{}-{}", size, hex64(hasher.digest()));
}

/// Lines "name<tab>identity" for the files of this node.
std::string inventory(const config::Config& config) {
  std::string text;
  const auto add = [&](const std::string& name, const fs::path& path) {
    text += name + '\t' + identity_of(path) + '\n';
  };
  for (const char* name : kPrograms) {
    add(name, rollout::program_beside_this_one(name));
  }
  // With data.stage_dir each node gets copies of the files of rank 0.
  if (!config.data.stage_dir.empty()) return text;
  try {
    for (const auto& file : data::find_data_files(config.data.files)) add(file, file);
  } catch (const Error&) {
    // This node has no data files. If another node has data files, the inventories differ.
  }
  return text;
}

std::map<std::string, std::string> parse_inventory(const std::string& text) {
  std::map<std::string, std::string> files;
  std::istringstream in(text);
  for (std::string name, identity; std::getline(in, name, '\t') && std::getline(in, identity);) {
    files[name] = identity;
  }
  return files;
}

}  // namespace

Finding judge_inventories(const std::vector<NodeInventory>& nodes) {
  Finding finding{.subject = "same files"};
  std::vector<std::string> differences;
  const auto first = parse_inventory(nodes.front().text);
  for (const NodeInventory& node : nodes) {
    const auto own = parse_inventory(node.text);
    for (const auto& [name, identity] : first) {
      const auto found = own.find(name);
      if (found == own.end() || found->second == "missing") {
        if (identity != "missing")
          differences.push_back(fmt::format("{} lacks {}", node.host, name));
      } else if (found->second != identity) {
        differences.push_back(
            fmt::format("{} has another {} than {}", node.host, name, nodes.front().host));
      }
    }
    for (const auto& [name, identity] : own) {
      if (!first.contains(name)) {
        differences.push_back(
            fmt::format("{} lacks {}, which {} has", nodes.front().host, name, node.host));
      }
    }
  }
  if (differences.empty()) {
    finding.found =
        fmt::format("programs and {} data files are the same on {} nodes",
                    first.size() - std::min(first.size(), kPrograms.size()), nodes.size());
    return finding;
  }
  finding.verdict = Verdict::kFailed;
  finding.code = ExitCode::kConfig;
  finding.found = fmt::format(
      "{}; build once and copy the programs, share the file system, or let data be copied to each "
      "node (data.stage_dir)",
      fmt::join(differences, "; "));
  return finding;
}

std::optional<Finding> compare_nodes(comm::Communicator& communicator,
                                     const config::Config& config) {
  const comm::Topology& topology = communicator.topology();
  if (topology.num_nodes() == 1) return std::nullopt;
  const auto texts =
      communicator.gather_strings(topology.is_leader() ? inventory(config) : std::string(), 0);
  const auto hosts = communicator.gather_strings(hostname(), 0);
  if (communicator.rank() != 0) return std::nullopt;
  std::vector<NodeInventory> nodes;
  for (const int leader : topology.leaders) {
    const auto rank = static_cast<std::size_t>(leader);
    nodes.push_back({.host = hosts[rank], .text = texts[rank]});
  }
  return judge_inventories(nodes);
}

}  // namespace traffic::train
