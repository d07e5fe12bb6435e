/// Sets up spdlog's default logger with log files and the console. After init_logging() any code
/// may call spdlog::info(...).
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace traffic::report {

struct LogOptions {
  std::filesystem::path dir;   ///< folder of the log files; empty means that no files are written
  int rank = 0;                ///< MPI rank of this process
  int world_size = 1;          ///< number of ranks; if above 1, lines in files and errors on the
                               ///< console name their rank
  std::string level = "info";  ///< trace | debug | info | warning | error | off
  bool console = true;         ///< whether to write to stderr: all lines of rank 0, and errors of
                               ///< the other ranks
};

/// Sets up the log files and the console. Rank N writes rank-N.log, which also gets the report of a
/// crash; rank 0 also writes train.log. Warnings and errors of all ranks go to error.log. The
/// console is stderr; stdout is reserved for results. If stderr is closed, the disk is full or the
/// folder is removed, lines are lost, without any other effect.
///
/// The function also makes the process ignore SIGPIPE. It opens /dev/null for each of the file
/// descriptors 0 to 2 that is closed. Otherwise a data file could get descriptor 2, and log lines
/// would overwrite it. The function may be called again, e.g. when the run folder becomes known.
/// @throws ConfigError if the level is unknown
void init_logging(const LogOptions& options);

/// Writes a line of level info to the log files but not to the console. The progress bar uses it.
void log_to_files(std::string_view text);

/// Number of lines that could not be written to the console or to a file since init_logging().
std::uint64_t num_lost_log_lines();

}  // namespace traffic::report
