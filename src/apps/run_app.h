/// The frame of every program that is neither a rank nor a simulation: an error becomes one line on
/// standard error and the exit code of its kind.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <string>

#include "traffic/config/option_help.h"
#include "traffic/core/error.h"
#include "traffic/core/version.h"

namespace traffic {

/// @param body does the program's work
/// @return the program's exit code
template <typename Body>
int run_guarded(const std::string& program, const Body& body) {
  try {
    return static_cast<int>(body());
  } catch (const Error& error) {
    std::fprintf(stderr, "%s: %s\n", program.c_str(), error.what());
    return static_cast<int>(error.code());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", program.c_str(), error.what());
    return static_cast<int>(ExitCode::kInternal);
  }
}

/// Reads the command line first: prints what --help and --version ask for, else runs `body`.
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
