#include "doctor/numa.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>
#include <system_error>

namespace traffic::train {
namespace {

/// Whether a list like "0-3,8" contains the CPU.
bool contains(const std::string& list, int cpu) {
  std::istringstream ranges(list);
  for (std::string range; std::getline(ranges, range, ',');) {
    int first = 0;
    std::istringstream numbers(range);
    if (!(numbers >> first)) continue;
    int last = first;
    if (numbers.peek() == '-') {
      numbers.ignore();
      numbers >> last;
    }
    if (first <= cpu && cpu <= last) return true;
  }
  return false;
}

}  // namespace

NumaFacts numa_of(const std::filesystem::path& sysfs, std::span<const int> cpus) {
  NumaFacts facts{.nodes = 0, .of_this_process = 0};
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(sysfs, error)) {
    std::ifstream in(entry.path() / "cpulist");
    std::string list;
    // Some NUMA nodes have memory but no CPUs.
    if (!std::getline(in, list) || list.empty()) continue;
    ++facts.nodes;
    if (std::ranges::any_of(cpus, [&](int cpu) { return contains(list, cpu); })) {
      ++facts.of_this_process;
    }
  }
  return facts.nodes == 0 ? NumaFacts{} : facts;
}

Finding judge_numa(const NumaFacts& facts) {
  Finding finding{.subject = "memory",
                  .found = fmt::format("{} NUMA node{}, this rank's threads run on {}", facts.nodes,
                                       facts.nodes == 1 ? "" : "s", facts.of_this_process)};
  if (facts.of_this_process > 1) {
    finding.verdict = Verdict::kWarning;
    finding.found +=
        ": memory of another NUMA node is slower; start one rank per NUMA node with mpirun "
        "--map-by numa --bind-to numa";
  }
  return finding;
}

}  // namespace traffic::train
