// The command data_prep dedupe.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>
#include <set>

#include "command.h"
#include "digests.h"
#include "outputs.h"
#include "traffic/report/table.h"

namespace traffic::data_prep {
namespace {

using Json = nlohmann::json;

struct DedupeOptions {
  OutputOptions output;
  double share = 0;  ///< leave out an episode if this share of its frames is in an earlier one
};

/// An episode that is left out, and the episode that contains its frames.
struct Removed {
  data::EpisodePlace episode;
  data::EpisodePlace same_as;
  double share = 0;  ///< share of the episode's frames that are also in same_as
};

/// Finds the episodes to leave out: those of which at least `share` of the frames are also in an
/// earlier episode that is kept.
std::vector<Removed> find_removed(const std::vector<data::FileDigest>& files, double share) {
  std::vector<Removed> removed;
  data::FrameIndex frames;
  for (std::size_t f = 0; f < files.size(); ++f) {
    for (std::size_t e = 0; e < files[f].episodes.size(); ++e) {
      const data::EpisodeDigest& episode = files[f].episodes[e];
      const auto shared = frames.add({f, e}, episode, false);
      const auto most = std::max_element(
          shared.begin(), shared.end(),
          [](const auto& a, const auto& b) { return a.second.count < b.second.count; });
      const auto telling = std::count_if(episode.frames.begin(), episode.frames.end(),
                                         [](std::uint64_t hash) { return hash != 0; });
      if (most != shared.end()) {
        const double found = static_cast<double>(most->second.count) / static_cast<double>(telling);
        if (found >= share) {
          removed.push_back({{f, e}, most->first, found});
          continue;
        }
      }
      static_cast<void>(frames.add({f, e}, episode));
    }
  }
  return removed;
}

Json describe(const std::vector<data::FileDigest>& files, const Removed& one) {
  return {{"file", files[one.episode.file].path},
          {"episode", one.episode.episode},
          {"same_as_file", files[one.same_as.file].path},
          {"same_as_episode", one.same_as.episode},
          {"share_of_frames", one.share}};
}

ExitCode dedupe(const DedupeOptions& options, const std::string& command_line) {
  const auto plan = plan_rewrites(options.output);
  std::vector<std::string> paths;
  for (const Rewrite& files : plan) paths.push_back(files.from);
  const auto digests = digest_files(paths, options.output.jobs);
  const auto removed = find_removed(digests, options.share);
  std::set<data::EpisodePlace> gone;
  Json list = Json::array();
  for (const Removed& one : removed) {
    gone.insert(one.episode);
    list.push_back(describe(digests, one));
  }
  std::vector<FileJob> jobs;
  for (std::size_t f = 0; f < plan.size(); ++f) {
    jobs.push_back({plan[f].from, [&, f](const Progress& progress) {
                      const data::DatasetReader file(plan[f].from);
                      Changes changes = unchanged(file, command_line);
                      const auto as_it_was = changes.label;
                      changes.label = [&](std::size_t e) -> std::optional<data::EpisodeLabel> {
                        if (gone.contains({f, e})) return std::nullopt;
                        return as_it_was(e);
                      };
                      return rewrite(file, plan[f].to, changes, progress);
                    }});
  }
  const auto answers = run_all_apart(
      jobs, {.label = "dedupe", .folder = options.output.out, .jobs = options.output.jobs});
  print_rewritten(answers, options.output.json, {{"removed", list}});
  if (options.output.json) return ExitCode::kDone;
  report::Table table({"removed from", "episode", "same as", "episode there", "share of frames"});
  for (const Removed& one : removed) {
    table.add_row({digests[one.episode.file].path, static_cast<std::int64_t>(one.episode.episode),
                   digests[one.same_as.file].path, static_cast<std::int64_t>(one.same_as.episode),
                   one.share});
  }
  if (!removed.empty()) std::printf("\n%s", table.to_text().c_str());
  std::printf("%zu episodes removed\n", removed.size());
  return ExitCode::kDone;
}

}  // namespace

void add_dedupe(CLI::App& app, Chosen& chosen) {
  auto options = std::make_shared<DedupeOptions>();
  CLI::App* command =
      app.add_subcommand("dedupe", "Leave out episodes whose frames are in an earlier one");
  add_output_options(*command, options->output);
  command
      ->add_option("--share", options->share,
                   "Leave out an episode if at least this share of its frames is also in an "
                   "earlier episode; 0 means that one common frame is enough")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  command->callback([&chosen, options] {
    chosen = [options](const std::string& command_line) { return dedupe(*options, command_line); };
  });
}

}  // namespace traffic::data_prep
