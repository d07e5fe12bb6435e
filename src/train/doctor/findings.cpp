#include "doctor/findings.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>
#include <utility>

#include "monitor/gpu.h"
#include "traffic/core/text.h"
#include "traffic/report/table.h"

namespace traffic::train {
namespace {

/// Prefixes of the environment variables that NCCL, CUDA, OpenMP, UCX, SUMO and this program read.
constexpr std::array<const char*, 6> kPrefixes{"NCCL_", "CUDA_", "OMP_",
                                               "UCX_",  "SUMO_", "TRAFFIC_"};
constexpr const char* kVisibleGpus = "CUDA_VISIBLE_DEVICES";

/// Measured memory of a rank and of a simulation, with a margin (docs/results/speed.md).
constexpr std::int64_t kRankBytes = std::int64_t{1} << 30;
constexpr std::int64_t kSimulationBytes = std::int64_t{100} << 20;

const char* name_of(Verdict verdict) {
  if (verdict == Verdict::kOk) return "ok";
  return verdict == Verdict::kWarning ? "warning" : "FAILED";
}

/// "rank 2" or "ranks 0, 1"
std::string ranks_text(const std::vector<std::size_t>& ranks) {
  return fmt::format("rank{} {}", ranks.size() == 1 ? "" : "s", fmt::join(ranks, ", "));
}

Finding judge_setting(const std::string& name, const std::vector<Settings>& of_rank) {
  std::map<std::string, std::vector<std::size_t>> ranks_with;
  for (std::size_t rank = 0; rank < of_rank.size(); ++rank) {
    const auto own = of_rank[rank].find(name);
    ranks_with[own == of_rank[rank].end() ? "not set" : own->second].push_back(rank);
  }
  Finding finding{.subject = "settings"};
  if (ranks_with.size() == 1) {
    finding.found = fmt::format("{} = {}", name, ranks_with.begin()->first);
    return finding;
  }
  std::vector<std::string> parts;
  for (const auto& [value, ranks] : ranks_with) {
    parts.push_back(fmt::format("{} on {}", value, ranks_text(ranks)));
  }
  finding.found = fmt::format("{}: {}", name, fmt::join(parts, ", "));
  if (name == kVisibleGpus) return finding;
  finding.verdict = Verdict::kWarning;
  finding.found += fmt::format("; give all ranks the same value (mpirun -x {})", name);
  return finding;
}

}  // namespace

Finding attempt(const std::string& subject, const std::function<std::string()>& work) {
  try {
    return {.subject = subject, .found = work()};
  } catch (const Error& error) {
    return {.verdict = Verdict::kFailed,
            .subject = subject,
            .found = error.what(),
            .code = error.code()};
  } catch (const std::exception& error) {  // from CUDA, through LibTorch
    return {.verdict = Verdict::kFailed, .subject = subject, .found = error.what()};
  }
}

std::int64_t needed_bytes(const NodeFacts& node) {
  return node.ranks * kRankBytes + node.simulations * kSimulationBytes;
}

Finding judge_node(const NodeFacts& node) {
  Finding finding{
      .subject = "node",
      .found = fmt::format("{}: {} CPUs and {} of memory for {} rank{} and {} simulation{}",
                           node.host, node.cpus, human_bytes(node.memory_bytes), node.ranks,
                           node.ranks == 1 ? "" : "s", node.simulations,
                           node.simulations == 1 ? "" : "s")};
  const std::int64_t needed = needed_bytes(node);
  if (node.ranks > node.cpus) {
    finding.verdict = Verdict::kWarning;
    finding.found += "; ranks will take turns on the CPUs: start fewer of them (mpirun -np)";
  }
  if (needed > node.memory_bytes) {
    finding.verdict = Verdict::kWarning;
    finding.found += fmt::format(
        "; ranks and simulations may take {}: start fewer ranks, lower rollout.workers or give the "
        "job more memory",
        human_bytes(needed));
  }
  return finding;
}

void add_setting(const std::string& entry, Settings& settings) {
  const auto equals = entry.find('=');
  settings[entry.substr(0, equals)] = entry.substr(equals + 1);
}

Settings current_settings() {
  Settings settings;
  for (const char* prefix : kPrefixes) {
    for (const std::string& entry : environment_settings(prefix)) add_setting(entry, settings);
  }
  return settings;
}

std::vector<Finding> judge_settings(const std::vector<Settings>& of_rank) {
  std::set<std::string> names;
  for (const Settings& settings : of_rank) {
    for (const auto& [name, value] : settings) names.insert(name);
  }
  std::vector<Finding> findings;
  for (const std::string& name : names) findings.push_back(judge_setting(name, of_rank));
  if (findings.empty()) {
    findings.push_back(
        {.subject = "settings",
         .found = fmt::format("no environment variable {}* is set", fmt::join(kPrefixes, "*, "))});
  }
  return findings;
}

std::vector<Finding> join_ranks(const std::vector<Finding>& of_rank) {
  std::vector<Finding> joined;
  std::vector<std::vector<std::size_t>> ranks;
  for (std::size_t rank = 0; rank < of_rank.size(); ++rank) {
    const Finding& own = of_rank[rank];
    const auto same = std::find_if(joined.begin(), joined.end(), [&](const Finding& other) {
      return other.verdict == own.verdict && other.found == own.found;
    });
    if (same == joined.end()) {
      joined.push_back(own);
      ranks.push_back({rank});
    } else {
      ranks[static_cast<std::size_t>(same - joined.begin())].push_back(rank);
    }
  }
  for (std::size_t i = 0; i < joined.size(); ++i) {
    joined[i].found = fmt::format("{}: {}", ranks_text(ranks[i]), joined[i].found);
  }
  return joined;
}

std::string to_text(std::span<const Finding> findings) {
  std::string text;
  std::map<Verdict, int> count;
  for (const Finding& finding : findings) {
    text +=
        fmt::format("{:<8} {:<14} {}\n", name_of(finding.verdict), finding.subject, finding.found);
    ++count[finding.verdict];
  }
  return text + fmt::format("{} ok, {} warnings, {} failed\n", count[Verdict::kOk],
                            count[Verdict::kWarning], count[Verdict::kFailed]);
}

std::string to_json(std::span<const Finding> findings) {
  report::Table table({"verdict", "subject", "found", "exit_code"});
  for (const Finding& finding : findings) {
    const bool failed = finding.verdict == Verdict::kFailed;
    table.add_row({std::string(name_of(finding.verdict)), finding.subject, finding.found,
                   std::int64_t{failed ? static_cast<int>(finding.code) : 0}});
  }
  auto json = nlohmann::ordered_json::parse(table.to_json());
  for (std::size_t i = 0; i < findings.size(); ++i) {
    if (findings[i].details.empty()) continue;
    json[i].update(nlohmann::ordered_json::parse(findings[i].details));
  }
  return json.dump(2) + "\n";
}

ExitCode exit_code(std::span<const Finding> findings) {
  for (const Finding& finding : findings) {
    if (finding.verdict == Verdict::kFailed) return finding.code;
  }
  return ExitCode::kDone;
}

}  // namespace traffic::train
