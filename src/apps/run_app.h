/// The end of every program that is no rank and no environment: what goes wrong is said in one line
/// on standard error, and the exit code says of which kind it was.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <string>

#include "traffic/core/error.h"

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

/// The same behind a command line; what is only asked for (--help, --version) is printed.
template <typename Body>
int run_app(CLI::App& app, int argc, char** argv, const Body& body) {
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& help) {
    return app.exit(help);
  } catch (const CLI::ParseError& error) {
    std::fprintf(stderr, "%s: %s; --help lists what there is\n", app.get_name().c_str(),
                 error.what());
    return static_cast<int>(ExitCode::kConfig);
  }
  return run_guarded(app.get_name(), body);
}

}  // namespace traffic
