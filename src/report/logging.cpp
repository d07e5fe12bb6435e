// Sets up spdlog's default logger with log files and the console (logging.h).
#include "traffic/report/logging.h"

#include <fcntl.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "append_file.h"
#include "console.h"
#include "traffic/core/crash.h"
#include "traffic/core/error.h"

namespace traffic::report {
namespace {

/// Maximum size of a log file. AppendFile renames a full log file to <name>.1, so that a repeated
/// message cannot fill the disk.
constexpr std::uint64_t kMaxLogBytes = 64 << 20;

std::atomic<std::uint64_t> num_lost_lines{0};

/// A second logger with the files of the default logger and without the console.
std::shared_ptr<spdlog::logger> file_logger;

/// A sink of spdlog that counts lines that cannot be written. Subclasses write the lines.
class LineSink : public spdlog::sinks::base_sink<std::mutex> {
 protected:
  virtual bool write_line(std::string_view line) = 0;

  void sink_it_(const spdlog::details::log_msg& message) override {
    spdlog::memory_buf_t line;
    formatter_->format(message, line);
    if (!write_line({line.data(), line.size()})) ++num_lost_lines;
  }
  void flush_() override {}  // every line is written at once
};

class FileSink final : public LineSink {
 public:
  explicit FileSink(std::filesystem::path path) : file_(std::move(path), "", kMaxLogBytes) {}

 protected:
  bool write_line(std::string_view line) override { return file_.append(line); }

 private:
  AppendFile file_;
};

class ConsoleSink final : public LineSink {
 protected:
  bool write_line(std::string_view line) override {
    const std::uint64_t before = Console::instance().num_lost();
    Console::instance().line(line);
    return Console::instance().num_lost() == before;
  }
};

spdlog::level::level_enum level_of(const std::string& name) {
  const auto level = spdlog::level::from_str(name);
  if (level == spdlog::level::off && name != "off") {
    throw ConfigError("log.level is '{}', expected: trace, debug, info, warning, error or off",
                      name);
  }
  return level;
}

/// Opens /dev/null for each of the descriptors 0 to 2 that is closed. Otherwise a data file could
/// get descriptor 2, and log lines would be written into it.
void occupy_standard_descriptors() {
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd) {
    if (::fcntl(fd, F_GETFD) >= 0) continue;
    const int null = ::open("/dev/null", O_RDWR);  // the lowest free number, which is fd
    if (null > STDERR_FILENO) ::close(null);
  }
}

void ignore_sigpipe() {
  struct sigaction current {};
  if (::sigaction(SIGPIPE, nullptr, &current) == 0 && current.sa_handler == SIG_DFL) {
    ::signal(SIGPIPE, SIG_IGN);
  }
}

/// Replaces the flag %* in the pattern of log lines. In errors it becomes `tag`, which names the
/// rank; in other lines it becomes empty.
class RankOfErrors final : public spdlog::custom_flag_formatter {
 public:
  explicit RankOfErrors(std::string tag) : tag_(std::move(tag)) {}
  void format(const spdlog::details::log_msg& message, const std::tm& /*time*/,
              spdlog::memory_buf_t& line) override {
    if (message.level >= spdlog::level::err) line.append(tag_.data(), tag_.data() + tag_.size());
  }
  [[nodiscard]] std::unique_ptr<custom_flag_formatter> clone() const override {
    return std::make_unique<RankOfErrors>(tag_);
  }

 private:
  std::string tag_;
};

std::shared_ptr<spdlog::sinks::sink> console_sink(const std::string& rank_tag) {
  auto sink = std::make_shared<ConsoleSink>();
  auto formatter = std::make_unique<spdlog::pattern_formatter>(spdlog::pattern_time_type::utc);
  formatter->add_flag<RankOfErrors>('*', rank_tag).set_pattern("%H:%M:%S %*%l: %v");
  sink->set_formatter(std::move(formatter));
  return sink;
}

std::shared_ptr<spdlog::sinks::sink> file_sink(const std::filesystem::path& path,
                                               const std::string& rank_tag) {
  auto sink = std::make_shared<FileSink>(path);
  sink->set_formatter(std::make_unique<spdlog::pattern_formatter>(
      "%Y-%m-%dT%H:%M:%S.%eZ " + rank_tag + "%l: %v", spdlog::pattern_time_type::utc));
  return sink;
}

using SinkIterator = std::vector<spdlog::sink_ptr>::const_iterator;

std::shared_ptr<spdlog::logger> make_logger(SinkIterator begin, SinkIterator end,
                                            spdlog::level::level_enum level) {
  auto logger = std::make_shared<spdlog::logger>("traffic", begin, end);
  logger->set_level(level);
  logger->set_error_handler([](const std::string&) { ++num_lost_lines; });
  return logger;
}

}  // namespace

void init_logging(const LogOptions& options) {
  const auto level = level_of(options.level);
  const bool first = options.rank == 0;
  const std::string tag = options.world_size > 1 ? fmt::format("[rank {}] ", options.rank) : "";
  occupy_standard_descriptors();
  ignore_sigpipe();
  std::vector<spdlog::sink_ptr> sinks;
  if (options.console) {
    sinks.push_back(console_sink(tag));
    if (!first) sinks.back()->set_level(spdlog::level::err);
  }
  if (!options.dir.empty()) {
    sinks.push_back(file_sink(options.dir / "error.log", tag));
    sinks.back()->set_level(spdlog::level::warn);
    if (first) sinks.push_back(file_sink(options.dir / "train.log", tag));
    sinks.push_back(file_sink(options.dir / fmt::format("rank-{}.log", options.rank), tag));
  }
  set_crash_log(options.dir.empty() ? ""
                                    : std::filesystem::absolute(
                                          options.dir / fmt::format("rank-{}.log", options.rank)));
  const auto first_file = sinks.begin() + (options.console ? 1 : 0);
  auto logger = make_logger(sinks.begin(), sinks.end(), level);
  file_logger = make_logger(first_file, sinks.end(), level);
  num_lost_lines = 0;
  spdlog::set_default_logger(std::move(logger));
}

void log_to_files(std::string_view text) {
  if (file_logger) file_logger->info("{}", text);
}

std::uint64_t num_lost_log_lines() { return num_lost_lines; }

}  // namespace traffic::report
