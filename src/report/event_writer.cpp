// EventWriter of metrics.h, which writes event files of TensorBoard.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <ctime>
#include <system_error>

#include "append_file.h"
#include "tensorboard_event.pb.h"
#include "tfrecord.h"
#include "traffic/core/process.h"
#include "traffic/report/metrics.h"

namespace traffic::report {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "events.out.tfevents.";

/// The time in the name of an event file, in seconds since 1970; 0 if the name is another.
/// TensorBoard orders the files of a folder by this time.
std::int64_t time_in(const std::string& name) {
  if (!name.starts_with(kPrefix)) return 0;
  std::int64_t time = 0;
  std::from_chars(name.data() + kPrefix.size(), name.data() + name.size(), time);
  return time;
}

/// A file name with a later time than all others in the folder, even if the clock was set back.
fs::path next_path(const fs::path& dir) {
  auto time = static_cast<std::int64_t>(std::time(nullptr));
  std::error_code error;
  for (fs::directory_iterator it(dir, error), end; !error && it != end; it.increment(error)) {
    time = std::max(time, time_in(it->path().filename().string()) + 1);
  }
  return dir / fmt::format("{}{:010d}.{}.{}", kPrefix, time, hostname(), getpid());
}

std::string record_of(const proto::Event& event) {
  return frame_tfrecord(event.SerializeAsString());
}

std::string first_record() {
  proto::Event event;
  event.set_wall_time(static_cast<double>(std::time(nullptr)));
  event.set_file_version("brain.Event:2");
  return record_of(event);
}

/// Tells TensorBoard to ignore the entries of earlier files from `step` on.
std::string restart_record(std::int64_t step) {
  proto::Event event;
  event.set_wall_time(static_cast<double>(std::time(nullptr)));
  event.set_step(step);
  event.mutable_session_log()->set_status(proto::SessionLog::START);
  return record_of(event);
}

}  // namespace

EventWriter::EventWriter(const fs::path& dir, std::optional<std::int64_t> resumed_step)
    : file_(std::make_unique<AppendFile>(next_path(dir), first_record())) {
  if (resumed_step) file_->append(restart_record(*resumed_step + 1));
}

EventWriter::~EventWriter() = default;
EventWriter::EventWriter(EventWriter&&) noexcept = default;

void EventWriter::write(std::int64_t step, double wall_time_s, const NamedValues& values) {
  proto::Event event;
  event.set_wall_time(wall_time_s);
  event.set_step(step);
  for (const auto& [name, value] : values) {
    proto::Summary::Value* scalar = event.mutable_summary()->add_value();
    scalar->set_tag(name);
    scalar->set_simple_value(static_cast<float>(value));
  }
  file_->append(record_of(event));
}

std::uint64_t EventWriter::num_lost() const { return file_->num_lost(); }

}  // namespace traffic::report
