// The program data_prep, which makes, checks and describes data sets. Parses the command line and
// runs the chosen subcommand.
#include <cstdio>
#include <exception>
#include <filesystem>
#include <new>

#include <fmt/ranges.h>

#include <CLI/CLI.hpp>

#include "command.h"
#include "traffic/config/option_help.h"
#include "traffic/core/error.h"
#include "traffic/core/path_error.h"
#include "traffic/core/version.h"
#include "traffic/report/logging.h"

namespace {

using namespace traffic;

ExitCode run(int argc, char** argv) {
  CLI::App app{
      "Makes, checks and describes the data sets from which world models and driving policies "
      "learn.",
      "data_prep"};
  app.set_version_flag("--version", fmt::format("data_prep {}", version()));
  app.require_subcommand(1);
  data_prep::Chosen chosen;
  data_prep::add_record(app, chosen);
  data_prep::add_convert(app, chosen);
  data_prep::add_merge(app, chosen);
  data_prep::add_split(app, chosen);
  data_prep::add_quantize(app, chosen);
  data_prep::add_normalize(app, chosen);
  data_prep::add_dedupe(app, chosen);
  data_prep::add_inspect(app, chosen);
  data_prep::add_verify(app, chosen);
  data_prep::add_stats(app, chosen);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    std::fputs(config::option_help(app).c_str(), stdout);
    return ExitCode::kDone;
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() != 0) throw ConfigError("{}; see data_prep --help", error.what());
    app.exit(error);  // prints the version
    return ExitCode::kDone;
  }
  report::init_logging({});
  return chosen(fmt::format("{}", fmt::join(argv, argv + argc, " ")));
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return static_cast<int>(run(argc, argv));
  } catch (const Error& error) {
    std::fprintf(stderr, "data_prep: %s\n", error.what());
    return static_cast<int>(error.code());
  } catch (const std::bad_alloc&) {
    std::fprintf(stderr, "data_prep: out of memory\n");
    return static_cast<int>(ExitCode::kResources);
  } catch (const std::filesystem::filesystem_error& error) {
    std::fprintf(stderr, "data_prep: %s\n", path_error_text(error).c_str());
    return static_cast<int>(ExitCode::kConfig);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "data_prep: %s\n", error.what());
    return static_cast<int>(ExitCode::kInternal);
  }
}
