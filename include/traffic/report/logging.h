/// Sets up spdlog's default logger: after init_logging() any code may call spdlog::info(...).
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace traffic::report {

struct LogOptions {
  std::filesystem::path dir;  ///< of the log files; empty: no files
  int rank = 0;
  int world_size = 1;          ///< from 2 on, lines in files and errors on stderr name their rank
  std::string level = "info";  ///< trace | debug | info | warning | error
  bool console = true;         ///< rank 0: everything, other ranks: errors, on stderr
};

/// Every rank writes rank-N.log; rank 0 also train.log; warnings and errors of all ranks go to
/// error.log, last words of a crash to rank-N.log. All logging goes to stderr, never to stdout,
/// which belongs to results. A closed stderr, a full disk or a removed folder costs lines, nothing
/// else. Also keeps file descriptors 0 to 2 occupied, so that no data file ever gets the number of
/// a closed stderr, and ignores SIGPIPE. May be called again, e.g. once the run folder is known.
/// @throws ConfigError if the level is unknown
void init_logging(const LogOptions& options);

/// A line (info) for the files alone: on the console something else shows it.
void log_to_files(std::string_view text);

/// Lines that could not be written since init_logging(), to any place.
std::uint64_t num_lost_log_lines();

}  // namespace traffic::report
