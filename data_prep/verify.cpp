// The command data_prep verify.
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "command.h"
#include "digests.h"
#include "file_jobs.h"
#include "traffic/core/error.h"
#include "traffic/core/text.h"
#include "traffic/data/scene_file.h"
#include "traffic/data/verify.h"
#include "traffic/report/table.h"

namespace traffic::data_prep {
namespace {

using Json = nlohmann::json;

struct VerifyOptions {
  std::vector<std::string> files;
  std::int64_t jobs = 0;
  bool json = false;
};

/// Checks one file. Runs in a process of its own.
/// @return {"problems": [...]} and, if there are no problems, {"digest": ...}
template <typename Reader>
Json check_file(const Reader& file, const Progress& progress) {
  const auto problems = data::find_problems(file, progress);
  Json answer{{"problems", problems}};
  if (problems.empty()) {
    answer["digest"] = digest_json(data::digest_file(file, progress));
  }
  return answer;
}

Json check_file(const std::string& path, const Progress& progress) {
  if (data::format_of(path) == data::kSceneFormatName) {
    return check_file(data::SceneReader(path), progress);
  }
  const data::DatasetReader file(path);
  Json answer = check_file(file, progress);
  answer["missing_features"] = data::missing_features(file.info());
  return answer;
}

ExitCode verify(const VerifyOptions& options) {
  const auto paths = data::find_data_files(options.files);
  std::vector<FileJob> jobs;
  for (const auto& path : paths) {
    jobs.push_back({path, [path](const Progress& progress) { return check_file(path, progress); }});
  }
  const auto answers = run_apart(jobs, {.label = "verify", .folder = {}, .jobs = options.jobs});
  report::Table table({"file", "problems"});
  std::vector<std::string> all;
  ExitCode code = ExitCode::kData;  // unless a file could not be checked for another reason
  std::vector<data::FileDigest> sound;
  std::map<std::string, std::vector<std::string>> lacking;  ///< missing features of each file
  for (std::size_t i = 0; i < paths.size(); ++i) {
    std::vector<std::string> problems;
    if (!answers[i].error.empty()) {
      problems.push_back(answers[i].error);
      if (answers[i].code != ExitCode::kData) code = answers[i].code;
    } else {
      problems = answers[i].answer.at("problems");
    }
    table.add_row({paths[i], static_cast<std::int64_t>(problems.size())});
    if (problems.empty()) {
      sound.push_back(digest_of(answers[i].answer.at("digest")));
      std::vector<std::string> missing =
          answers[i].answer.value("missing_features", std::vector<std::string>());
      if (!missing.empty()) lacking[paths[i]] = std::move(missing);
    }
    all.insert(all.end(), problems.begin(), problems.end());
  }
  const auto leaks = data::find_leaks(sound);
  table.add_row({std::string("splits and duplicates"), static_cast<std::int64_t>(leaks.size())});
  all.insert(all.end(), leaks.begin(), leaks.end());

  if (options.json) {
    const Json out{
        {"checks", Json::parse(table.to_json())}, {"missing_features", lacking}, {"problems", all}};
    std::printf("%s\n", out.dump(2).c_str());
  } else {
    std::fputs(table.to_text().c_str(), stdout);
    for (const auto& [path, features] : lacking) {
      std::printf(
          "%s\n",
          fmt::format("{} does not have the features {}", path, fmt::join(features, ", ")).c_str());
    }
    for (const auto& problem : all) std::printf("%s\n", problem.c_str());
    std::printf("files: %zu, problems: %zu\n", paths.size(), all.size());
  }
  if (all.empty()) return ExitCode::kDone;
  throw Error(fmt::format("found {} in {}: the output lists each with what to do",
                          counted(static_cast<std::int64_t>(all.size()), "problem"),
                          counted(static_cast<std::int64_t>(paths.size()), "file")),
              code);
}

}  // namespace

void add_verify(CLI::App& app, Chosen& chosen) {
  auto options = std::make_shared<VerifyOptions>();
  CLI::App* command = app.add_subcommand(
      "verify", "Find damage, NaN, impossible movements, duplicates and leaks between splits");
  command->add_option("files", options->files, "Files or globs")->required();
  command
      ->add_option("--jobs", options->jobs,
                   "Number of files processed at the same time; 0 means one for each CPU")
      ->check(CLI::Range(0, 4096))
      ->capture_default_str();
  command->add_flag("--json", options->json, "Print the result as JSON");
  command->callback(
      [&chosen, options] { chosen = [options](const std::string&) { return verify(*options); }; });
}

}  // namespace traffic::data_prep
