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
#include "traffic/core/error.h"

namespace traffic::report {
namespace {

std::atomic<std::uint64_t> num_lost_lines{0};

/// Sorts out what spdlog formats; subclasses say where it goes.
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
  explicit FileSink(std::filesystem::path path) : file_(std::move(path)) {}

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

/// A closed descriptor would be given to the next file that is opened, which log lines would then
/// overwrite.
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

template <typename Sink, typename... Args>
void add_sink(std::vector<spdlog::sink_ptr>& sinks, spdlog::level::level_enum level,
              const std::string& pattern, Args&&... args) {
  auto sink = std::make_shared<Sink>(std::forward<Args>(args)...);
  sink->set_level(level);
  sink->set_formatter(
      std::make_unique<spdlog::pattern_formatter>(pattern, spdlog::pattern_time_type::utc));
  sinks.push_back(std::move(sink));
}

}  // namespace

void init_logging(const LogOptions& options) {
  const auto level = level_of(options.level);
  occupy_standard_descriptors();
  ignore_sigpipe();
  const std::string file_pattern =
      fmt::format("%Y-%m-%dT%H:%M:%S.%eZ [rank {}] %l: %v", options.rank);
  std::vector<spdlog::sink_ptr> sinks;
  if (options.console && options.rank == 0) {
    add_sink<ConsoleSink>(sinks, level, "%H:%M:%S %l: %v");
  } else if (options.console) {
    add_sink<ConsoleSink>(sinks, spdlog::level::err,
                          fmt::format("%H:%M:%S [rank {}] %l: %v", options.rank));
  }
  if (!options.dir.empty()) {
    add_sink<FileSink>(sinks, level, file_pattern,
                       options.dir / fmt::format("rank-{}.log", options.rank));
    add_sink<FileSink>(sinks, spdlog::level::warn, file_pattern, options.dir / "error.log");
    if (options.rank == 0)
      add_sink<FileSink>(sinks, level, file_pattern, options.dir / "train.log");
  }
  auto logger = std::make_shared<spdlog::logger>("traffic", sinks.begin(), sinks.end());
  logger->set_level(level);
  logger->set_error_handler([](const std::string&) { ++num_lost_lines; });
  num_lost_lines = 0;
  spdlog::set_default_logger(std::move(logger));
}

std::uint64_t num_lost_log_lines() { return num_lost_lines; }

}  // namespace traffic::report
