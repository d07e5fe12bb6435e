#include "offpolicy/start.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <system_error>
#include <vector>

#include "traffic/core/error.h"
#include "traffic/core/text.h"

namespace traffic::train::offpolicy {
namespace {

namespace fs = std::filesystem;

constexpr const char* kLearner = "offpolicy/learner";

/// Episodes of the checkpoints "step-<episode>.h5" in a folder, ascending.
std::vector<std::int64_t> saved_episodes(const fs::path& checkpoints) {
  constexpr std::string_view kPrefix = "step-";
  std::vector<std::int64_t> episodes;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(checkpoints, error)) {
    const std::string name = entry.path().filename().string();
    std::int64_t episode = 0;
    if (!name.starts_with(kPrefix) || entry.path().extension() != ".h5") continue;
    const char* first = name.data() + kPrefix.size();
    if (std::from_chars(first, name.data() + name.size(), episode).ec == std::errc()) {
      episodes.push_back(episode);
    }
  }
  std::ranges::sort(episodes);
  return episodes;
}

}  // namespace

fs::path starting_checkpoint(const std::string& init_from, std::int64_t episode) {
  const fs::path path = init_from;
  if (!fs::is_directory(path)) {
    if (episode == 0) return path;
    throw ConfigError(
        "offpolicy.init_episode is {}, but run.init_from is not a run folder: {}; give the run "
        "folder, or set offpolicy.init_episode to 0",
        episode, init_from);
  }
  const fs::path checkpoints = path / "checkpoints";
  const std::vector<std::int64_t> saved = saved_episodes(checkpoints);
  if (saved.empty()) {
    throw CheckpointError("run.init_from: {} holds no checkpoint step-*.h5", checkpoints.string());
  }
  if (episode == 0) episode = saved.back();
  if (!std::ranges::binary_search(saved, episode)) {
    throw CheckpointError(
        "offpolicy.init_episode: {} holds no checkpoint of episode {}; saved are {} "
        "(checkpoint.save_interval_steps, checkpoint.keep_last)",
        checkpoints.string(), episode, fmt::join(saved, ", "));
  }
  return checkpoints / fmt::format("step-{:09d}.h5", episode);
}

void put_learner_kind(checkpoint::Snapshot& snapshot, const OffPolicy& settings) {
  snapshot.put_text(kLearner, settings.learner);
}

void check_learner_kind(const checkpoint::Snapshot& snapshot, const OffPolicy& settings) {
  const std::string& found = snapshot.text(kLearner);
  if (found == settings.learner) return;
  throw CheckpointError(
      "checkpoint {} was written by the learner {}, but this run's offpolicy.learner is {}; change "
      "offpolicy.learner, or use another checkpoint",
      snapshot.source(), found, settings.learner);
}

void check_replay_fits(std::int64_t bytes_of_rank, int ranks_of_node, std::int64_t memory_bytes) {
  const std::int64_t needed = bytes_of_rank * ranks_of_node;
  if (needed <= memory_bytes) return;
  throw ResourceError(
      "the replay does not fit into memory: it needs {} for {} rank(s) of this machine, which has "
      "{}; lower offpolicy.buffer_size",
      human_bytes(needed), ranks_of_node, human_bytes(memory_bytes));
}

}  // namespace traffic::train::offpolicy
