/// Sets up spdlog's default logger: after init_logging() any code may call spdlog::info(...).
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace traffic::report {

struct LogOptions {
  std::filesystem::path dir;  ///< folder of the log files; empty: no files
  int rank = 0;
  int world_size = 1;          ///< from 2 on, lines in files and errors on stderr name their rank
  std::string level = "info";  ///< trace | debug | info | warning | error
  bool console = true;         ///< rank 0: everything, other ranks: errors, on stderr
};

/// Every rank writes rank-N.log, and rank 0 also train.log. Warnings and errors of all ranks go to
/// error.log, the report of a crash to rank-N.log. The console is stderr; stdout belongs to
/// results. A closed stderr, a full disk or a removed folder loses lines and has no other effect.
/// The function also keeps file descriptors 0 to 2 occupied, so that no data file gets the number
/// of a closed stderr, and ignores SIGPIPE. It may be called again, e.g. once the run folder is
/// known.
/// @throws ConfigError if the level is unknown
void init_logging(const LogOptions& options);

/// Writes a line (info) to the files only, for text that the console shows in another way.
void log_to_files(std::string_view text);

/// Number of lines that could not be written to the console or to a file since init_logging().
std::uint64_t num_lost_log_lines();

}  // namespace traffic::report
