#include "monitor/step_profiler.h"

#include <ATen/record_function.h>
#include <spdlog/spdlog.h>
#include <torch/csrc/autograd/profiler_kineto.h>

#include <exception>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "monitor/profile_table.h"
#include "traffic/core/atomic_file.h"
#include "traffic/core/error.h"

namespace traffic::train {
namespace {

using torch::autograd::profiler::KinetoEvent;
using torch::autograd::profiler::ProfilerResult;
using torch::profiler::impl::ActivityType;

std::set<ActivityType> activities_on(torch::Device device) {
  std::set<ActivityType> all{ActivityType::CPU};
  if (device.is_cuda()) all.insert(ActivityType::CUDA);
  return all;
}

TraceSpan span_of(const KinetoEvent& event) {
  const bool on_cpu = event.deviceType() == c10::DeviceType::CPU;
  return {
      .name = event.name(),
      .where = on_cpu ? "CPU" : fmt::format("GPU {}", event.deviceIndex()),
      .row = on_cpu ? event.startThreadId() : static_cast<std::uint64_t>(event.deviceResourceId()),
      .start_ns = event.startNs(),
      .end_ns = event.endNs()};
}

std::string table_of(const ProfilerResult& result) {
  std::vector<TraceSpan> spans;
  for (const KinetoEvent& event : result.events()) {
    // Events without duration mark allocations.
    if (event.durationNs() > 0) spans.push_back(span_of(event));
  }
  return profile_table(spans).to_text();
}

}  // namespace

/// Records operations during its lifetime.
class StepProfiler::Recording {
 public:
  Recording(torch::Device device, TimeSplit& time_split) : time_split_(time_split) {
    const torch::profiler::impl::ProfilerConfig config(torch::profiler::impl::ProfilerState::KINETO,
                                                       /*report_input_shapes=*/true,
                                                       /*profile_memory=*/device.is_cuda());
    const auto activities = activities_on(device);
    torch::autograd::profiler::prepareProfiler(config, activities);
    torch::autograd::profiler::enableProfiler(config, activities);
    enter(time_split.current());
    time_split.observe([this](TimeShare share) { enter(share); });
  }
  ~Recording() {
    if (running_) stop();
  }
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

  std::unique_ptr<ProfilerResult> stop() {
    running_ = false;
    time_split_.observe({});
    share_.reset();
    return torch::autograd::profiler::disableProfiler();
  }

 private:
  /// Records each part of the step (TimeShare) as a span that contains the operations that run in
  /// it.
  void enter(TimeShare share) {
    share_.reset();
    share_.emplace(at::RecordScope::USER_SCOPE);
    if (share_->isActive()) share_->before(to_string(share));
  }

  TimeSplit& time_split_;
  std::optional<at::RecordFunction> share_;
  bool running_ = true;
};

StepProfiler::StepProfiler(const config::Profile& settings, ProfilePlace place,
                           TimeSplit& time_split)
    : settings_(settings), place_(std::move(place)), time_split_(time_split) {}

StepProfiler::~StepProfiler() { finish(); }

void StepProfiler::before_step(std::int64_t step) {
  if (!first_step_) first_step_ = step;
  const std::int64_t after_skipped = step - *first_step_ - settings_.skip_steps;
  if (after_skipped < 0 || after_skipped >= settings_.steps) {
    finish();
  } else if (!recording_) {
    recording_ = std::make_unique<Recording>(place_.device, time_split_);
  }
}

void StepProfiler::finish() noexcept {
  if (!recording_) return;
  try {
    const auto result = recording_->stop();
    recording_.reset();
    std::filesystem::create_directories(place_.folder);
    const std::string name = fmt::format("rank-{}", place_.rank);
    AtomicFile trace(place_.folder / (name + ".json"));
    result->save(trace.temp_path());
    trace.commit();
    write_file_atomically(place_.folder / (name + ".txt"), table_of(*result));
    spdlog::info("profile: {}.json (ui.perfetto.dev opens it) and .txt",
                 (place_.folder / name).string());
  } catch (const std::exception& e) {
    recording_.reset();
    spdlog::warn("the profile was not written: {}", e.what());
  }
}

}  // namespace traffic::train
