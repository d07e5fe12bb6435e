#include "digests.h"

#include "file_jobs.h"

namespace traffic::data_prep {

nlohmann::json digest_json(const data::FileDigest& digest) {
  nlohmann::json episodes = nlohmann::json::array();
  for (const auto& episode : digest.episodes) {
    episodes.push_back({{"seed", episode.seed},
                        {"demand_scale", episode.demand_scale},
                        {"split", static_cast<int>(episode.split)},
                        {"frames", episode.frames}});
  }
  return {{"path", digest.path},
          {"scenario", digest.scenario},
          {"format", digest.format},
          {"episodes", episodes}};
}

data::FileDigest digest_of(const nlohmann::json& json) {
  data::FileDigest digest{.path = json.at("path"),
                          .scenario = json.at("scenario"),
                          .format = json.at("format"),
                          .episodes = {}};
  for (const auto& episode : json.at("episodes")) {
    digest.episodes.push_back({.seed = episode.at("seed"),
                               .demand_scale = episode.at("demand_scale"),
                               .split = static_cast<data::Split>(episode.at("split").get<int>()),
                               .frames = episode.at("frames")});
  }
  return digest;
}

std::vector<data::FileDigest> digest_files(const std::vector<std::string>& paths,
                                           std::int64_t jobs) {
  std::vector<FileJob> work;
  for (const std::string& path : paths) {
    work.push_back({path, [path](const Progress& progress) {
                      return digest_json(data::digest_file(data::DatasetReader(path), progress));
                    }});
  }
  std::vector<data::FileDigest> digests;
  for (const nlohmann::json& answer :
       run_all_apart(work, {.label = "read", .folder = {}, .jobs = jobs})) {
    digests.push_back(digest_of(answer));
  }
  return digests;
}

}  // namespace traffic::data_prep
