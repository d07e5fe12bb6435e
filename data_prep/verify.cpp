#include "traffic/data/verify.h"

#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <system_error>

#include "command.h"
#include "traffic/data/reader.h"
#include "traffic/os/process_pool.h"
#include "traffic/report/table.h"

namespace traffic::data_prep {
namespace {

struct VerifyOptions {
  std::vector<std::string> files;
  bool json = false;
};

using Problems = std::vector<std::string>;

/// Runs a check in a process of its own, because a crafted file may crash the HDF5 library.
Problems check_apart(const std::string& what, const std::function<Problems()>& check) {
  const auto body = [&](const os::Messages& parent) {
    Problems problems;
    try {
      problems = check();
    } catch (const std::exception& error) {
      problems.emplace_back(error.what());
    }
    parent.send(
        nlohmann::json(problems).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
    return 0;
  };
  os::ProcessPool pool;
  try {
    pool.start(body);
  } catch (const std::system_error& error) {
    throw ResourceError("{}; raise the limits of open files and processes (ulimit -n, -u)",
                        error.what());
  }
  std::string answer;
  while (pool.size() > 0) {
    for (const auto& event : pool.wait(-1)) {
      if (!event.exit) {
        answer = event.message;
      } else if (!event.exit->well()) {
        return {
            fmt::format("{}: reading it crashed (it {}); the file is damaged or made to do harm",
                        what, event.exit->describe())};
      }
    }
  }
  return nlohmann::json::parse(answer).get<Problems>();
}

ExitCode verify(const VerifyOptions& options) {
  const auto paths = data::find_data_files(options.files);
  report::Table table({"file", "problems"});
  Problems all;
  std::vector<std::string> readable;
  std::map<std::string, std::vector<std::string>> lacking;  ///< features, by file
  for (const auto& path : paths) {
    const auto problems =
        check_apart(path, [&] { return data::find_problems(data::DatasetReader(path)); });
    table.add_row({path, static_cast<std::int64_t>(problems.size())});
    if (problems.empty()) {
      readable.push_back(path);
      lacking[path] = check_apart(
          path, [&] { return data::missing_features(data::DatasetReader(path).info()); });
      if (lacking[path].empty()) lacking.erase(path);
    }
    all.insert(all.end(), problems.begin(), problems.end());
  }
  const auto leaks = check_apart("the files together", [&] {
    std::vector<std::shared_ptr<const data::DatasetReader>> files;
    files.reserve(readable.size());
    for (const auto& path : readable) {
      files.push_back(std::make_shared<const data::DatasetReader>(path));
    }
    return data::find_leaks(files);
  });
  table.add_row({std::string("splits and duplicates"), static_cast<std::int64_t>(leaks.size())});
  all.insert(all.end(), leaks.begin(), leaks.end());

  if (options.json) {
    const nlohmann::json out{{"checks", nlohmann::json::parse(table.to_json())},
                             {"missing_features", lacking},
                             {"problems", all}};
    std::printf("%s\n", out.dump(2).c_str());
  } else {
    std::fputs(table.to_text().c_str(), stdout);
    for (const auto& [path, features] : lacking) {
      std::printf("%s\n", fmt::format("{} lacks {}", path, fmt::join(features, ", ")).c_str());
    }
    for (const auto& problem : all) std::printf("%s\n", problem.c_str());
    std::printf("%zu files, %zu problems\n", paths.size(), all.size());
  }
  return all.empty() ? ExitCode::kDone : ExitCode::kData;
}

}  // namespace

void add_verify(CLI::App& app, Chosen& chosen) {
  auto options = std::make_shared<VerifyOptions>();
  CLI::App* command = app.add_subcommand(
      "verify", "Find damage, NaN, dangling indices, duplicates and leaks between splits");
  command->add_option("files", options->files, "Files or globs")->required();
  command->add_flag("--json", options->json, "Print JSON");
  command->callback(
      [&chosen, options] { chosen = [options](const std::string&) { return verify(*options); }; });
}

}  // namespace traffic::data_prep
