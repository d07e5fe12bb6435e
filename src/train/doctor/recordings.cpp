#include "doctor/recordings.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "traffic/core/clock.h"
#include "traffic/core/text.h"
#include "traffic/data/traffic_batches.h"

namespace traffic::train {
namespace {

constexpr double kMeasureS = 1.5;

std::int64_t samples_in(const data::OpenedFiles& opened, data::Split split,
                        const data::WindowOptions& windows) {
  return data::Dataset(opened.files, split, windows).num_samples();
}

}  // namespace

RecordingFacts measure_recordings(const config::Data& data, std::int64_t rank,
                                  std::int64_t num_ranks) {
  config::Data options = data;
  options.batch_size = std::max<std::int64_t>(1, options.batch_size);
  options.drop_last = false;
  const data::OpenedFiles opened = data::open_data_files(options);
  data::WindowOptions windows = data::window_options(options);
  const auto train =
      std::make_shared<const data::Dataset>(opened.files, data::Split::kTrain, windows);
  windows.max_time_shift = windows.max_samples = 0;
  RecordingFacts facts{.files = static_cast<std::int64_t>(opened.files.size()),
                       .train = train->num_samples(),
                       .validation = samples_in(opened, data::Split::kValidation, windows),
                       .test = samples_in(opened, data::Split::kTest, windows),
                       .skipped = opened.skipped};
  data::TrafficLoader loader(
      data::traffic_batches(train, data::batch_options(options, 0, /*pin_memory=*/false)),
      {.data = options, .seed = 0, .rank = rank, .world_size = num_ranks});
  const Stopwatch clock;
  std::int64_t samples = 0;
  for (std::int64_t epoch = 0; clock.seconds() < kMeasureS; ++epoch) {
    loader.start_epoch(epoch);
    while (clock.seconds() < kMeasureS) {
      const auto batch = loader.next();
      if (!batch) break;
      samples += batch->num_samples();
    }
    loader.end_epoch();
  }
  facts.samples_per_s = static_cast<double>(samples) / clock.seconds();
  return facts;
}

Finding judge_recordings(const RecordingFacts& facts, const config::Data& data,
                         double samples_per_s) {
  Finding finding{
      .subject = "data",
      .found = fmt::format(
          "{}, samples: {} train, {} validation, {} test; with {} reading threads per rank, all "
          "ranks together read {:.0f} samples/s",
          counted(facts.files, "file"), facts.train, facts.validation, facts.test, data.num_workers,
          samples_per_s)};
  for (const auto& [split, count] :
       {std::pair{"train", facts.train}, std::pair{"validation", facts.validation},
        std::pair{"test", facts.test}}) {
    if (count > 0) continue;
    finding.verdict = Verdict::kFailed;
    finding.code = ExitCode::kData;
    finding.found += fmt::format(
        "; there are no samples for {}: record more episodes, or assign them to splits again with "
        "data_prep split",
        split);
  }
  if (facts.skipped.empty()) return finding;
  if (finding.verdict == Verdict::kOk) finding.verdict = Verdict::kWarning;
  finding.found += fmt::format("; cannot read {}, the first: {}",
                               counted(static_cast<std::int64_t>(facts.skipped.size()), "file"),
                               facts.skipped.front());
  return finding;
}

}  // namespace traffic::train
