/// Runs the body of a program and turns an error into one line on standard error and an exit code.
/// Programs that run as MPI ranks or as simulations do not use this file.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <string>

#include "traffic/config/option_help.h"
#include "traffic/core/error.h"
#include "traffic/core/path_error.h"
#include "traffic/core/version.h"

namespace traffic {

/// Calls `body` and reports the errors that it throws.
/// @param body does the program's work and returns its exit code
/// @return the program's exit code
template <typename Body>
int run_guarded(const std::string& program, const Body& body) {
  try {
    return static_cast<int>(body());
  } catch (const Error& error) {
    std::fprintf(stderr, "%s: %s\n", program.c_str(), error.what());
    return static_cast<int>(error.code());
  } catch (const std::filesystem::filesystem_error& error) {
    std::fprintf(stderr, "%s: %s\n", program.c_str(), path_error_text(error).c_str());
    return static_cast<int>(ExitCode::kConfig);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", program.c_str(), error.what());
    return static_cast<int>(ExitCode::kInternal);
  }
}

/// Parses the command line. Prints the text of --help or --version if one of them is given, and
/// runs `body` otherwise.
template <typename Body>
int run_app(CLI::App& app, int argc, char** argv, const Body& body) {
  app.set_version_flag("--version", app.get_name() + " " + std::string(version()));
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    std::fputs(config::option_help(app).c_str(), stdout);
    return static_cast<int>(ExitCode::kDone);
  } catch (const CLI::CallForVersion& version) {
    return app.exit(version);
  } catch (const CLI::ParseError& error) {
    std::fprintf(stderr, "%s: %s; see %s --help\n", app.get_name().c_str(), error.what(),
                 app.get_name().c_str());
    return static_cast<int>(ExitCode::kConfig);
  }
  return run_guarded(app.get_name(), body);
}

}  // namespace traffic
