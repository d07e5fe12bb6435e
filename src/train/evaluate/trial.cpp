#include "evaluate/trial.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <optional>
#include <utility>

#include "evaluate/episode_processes.h"
#include "evaluate/trial_schedule.h"
#include "traffic/core/clock.h"
#include "traffic/core/signals.h"

namespace traffic::train {
namespace {

/// First seed of trials. It is below the seeds of all trainings (rollouts/baseline_runs.h), and far
/// from seeds that users choose.
constexpr std::uint64_t kFirstTrialSeed = 600'000'000;
constexpr std::size_t kMaxSeeds = 1000;
/// Simulated time with a full network that a trial needs to show jams. A jam needs time to build
/// up, and is noticed after five minutes without an arrival.
constexpr double kFull_s = 600.0;

/// Runs one trial. The marks of an episode are points of simulated time at equal intervals, at
/// which the episode reports its metrics.
class TrialRun {
 public:
  TrialRun(EvaluationPlan plan, const TrialFrame& frame)
      : plan_(std::move(plan)),
        frame_(frame),
        marks_(EpisodeMarks::of(frame.episode_s, frame.step_length_s)),
        horizon_(marks_.count),
        schedule_(plan_.controllers.size(), plan_.jobs, marks_.count) {
    plan_.seeds.resize(kMaxSeeds);
    std::iota(plan_.seeds.begin(), plan_.seeds.end(), kFirstTrialSeed);
  }

  Trial run() {
    EpisodeProcesses processes(
        plan_, [this] { return next_task(); }, marks_.interval_s);
    while (const auto report = processes.next([&] { return goes_on(processes); })) {
      take(*report, processes);
    }
    return result();
  }

 private:
  /// An episode that has started.
  struct Running {
    Stopwatch clock;
    std::vector<EvaluatedEpisode> at_mark;  ///< [marks reached] metrics at each mark
    std::optional<EvaluatedEpisode> whole;
  };

  [[nodiscard]] double left_s() const { return frame_.seconds - clock_.seconds(); }
  Course& course(std::size_t index) {
    return schedule_.course(index / plan_.controllers.size(), index % plan_.controllers.size());
  }
  /// Converts the index of an episode to the number of its task (EpisodeProcesses::NextTask).
  /// Indices count the controllers of the first seed, then those of the second seed, and so on.
  /// Tasks count the seeds of the first controller first.
  [[nodiscard]] std::size_t task_of(std::size_t index) const {
    return index % plan_.controllers.size() * kMaxSeeds + index / plan_.controllers.size();
  }
  [[nodiscard]] std::size_t index_of(std::size_t task) const {
    return task % kMaxSeeds * plan_.controllers.size() + task / kMaxSeeds;
  }

  /// The next episode to start. The episodes of a further seed start only if they are expected to
  /// end in time.
  std::optional<std::size_t> next_task() {
    const std::size_t index = running_.size();
    const std::size_t seed = index / plan_.controllers.size();
    if (seed >= kMaxSeeds || stop_requested()) return std::nullopt;
    if (seed > 0 && index % plan_.controllers.size() == 0) {
      update_clocks();
      if (schedule_.remaining_s(seed + 1, horizon_) > left_s()) return std::nullopt;
    }
    running_.emplace_back();
    course(index).started = true;
    return task_of(index);
  }

  void take(const EpisodeReport& report, EpisodeProcesses& processes) {
    const std::size_t index = index_of(report.task);
    Running& running = running_[index];
    Course& own = course(index);
    if (report.kind == EpisodeReport::Kind::kDone) {
      running.whole = report.episode;
      own.elapsed_s = running.clock.seconds();
      own.ended = own.is_whole = true;
      return;
    }
    // The process of the episode died, and a new process runs it again.
    if (report.mark == 0 && !running.at_mark.empty()) {
      running = Running();
      own = Course{.started = true};
    }
    running.at_mark.push_back(report.episode);
    own.reached_s.push_back(running.clock.seconds());
    end_at_horizon(index, processes);
  }

  void end_at_horizon(std::size_t index, EpisodeProcesses& processes) {
    Course& own = course(index);
    const auto reached = static_cast<std::int64_t>(own.reached_s.size()) - 1;
    if (own.ended || horizon_ == marks_.count || reached < horizon_) return;
    own.elapsed_s = running_[index].clock.seconds();
    own.ended = true;
    processes.end(task_of(index));
  }

  void update_clocks() {
    for (std::size_t i = 0; i < running_.size(); ++i) {
      if (!course(i).ended) course(i).elapsed_s = running_[i].clock.seconds();
    }
  }

  bool goes_on(EpisodeProcesses& processes) {
    if (stop_requested() || left_s() <= 0.0) return false;
    if (clock_.seconds() < kLookShare * frame_.seconds) return true;
    update_clocks();
    horizon_ = schedule_.horizon(horizon_, wanted_mark(), left_s());
    for (std::size_t i = 0; i < running_.size(); ++i) end_at_horizon(i, processes);
    return true;
  }

  /// The first mark at which the uncontrolled run of a seed is steady (scene/score.h). If the run
  /// has not become steady, the result is above the number of marks.
  [[nodiscard]] std::int64_t full_mark(std::size_t seed) const {
    const auto& marks = running_[seed * plan_.controllers.size()].at_mark;
    const auto found = std::ranges::find_if(marks, [&](const EvaluatedEpisode& episode) {
      return is_steady(episode.score, frame_.step_length_s);
    });
    return found == marks.end() ? marks_.count + 1 : found - marks.begin();
  }

  /// The mark that episodes should reach so that jams would show, according to the first seed.
  [[nodiscard]] std::int64_t wanted_mark() const {
    return full_mark(0) + static_cast<std::int64_t>(std::ceil(kFull_s / marks_.interval_s));
  }

  /// Metrics of an episode at a mark; null if the episode has not reached it. If the episode has
  /// ended before the mark, these are its final metrics.
  [[nodiscard]] const EvaluatedEpisode* at(std::size_t index, std::int64_t mark) const {
    if (index >= running_.size()) return nullptr;
    const Running& running = running_[index];
    const auto wanted = static_cast<std::size_t>(mark);
    if (mark < marks_.count && wanted < running.at_mark.size()) return &running.at_mark[wanted];
    return running.whole ? &*running.whole : nullptr;
  }

  /// Seeds, counted from 0, on which all controllers have reached a mark.
  [[nodiscard]] std::vector<std::size_t> seeds_at(std::int64_t mark) const {
    const std::size_t controllers = plan_.controllers.size();
    std::vector<std::size_t> seeds;
    for (std::size_t s = 0; s * controllers < running_.size(); ++s) {
      bool is_complete = true;
      for (std::size_t c = 0; c < controllers; ++c) {
        is_complete &= at(s * controllers + c, mark) != nullptr;
      }
      if (is_complete) seeds.push_back(s);
    }
    return seeds;
  }

  /// The latest mark that `count` seeds have reached. If fewer seeds have run, it is the latest
  /// mark that all of these have reached.
  [[nodiscard]] std::int64_t mark_of(std::size_t count) const {
    const std::size_t wanted = std::min(count, seeds_at(1).size());
    std::int64_t mark = horizon_;
    while (mark > 1 && seeds_at(mark).size() < wanted) --mark;
    return mark;
  }

  /// The mark at which the trial compares the controllers. It is the latest mark that three seeds
  /// have reached. If that is before wanted_mark(), it is a later mark, at most wanted_mark(), that
  /// two seeds have reached.
  [[nodiscard]] std::int64_t mark_to_compare() const {
    if (seeds_at(1).empty()) return horizon_;
    return std::max(mark_of(3), std::min(mark_of(2), wanted_mark()));
  }

  Trial result() {
    const std::int64_t mark = mark_to_compare();
    const std::vector<std::size_t> seeds = seeds_at(mark);
    update_clocks();
    Trial trial{.plan = plan_,
                .horizon_s = mark == marks_.count ? frame_.episode_s
                                                  : static_cast<double>(mark) * marks_.interval_s,
                .is_whole = mark == marks_.count,
                .is_stopped = stop_requested(),
                .seconds = clock_.seconds(),
                .whole_seed_s = schedule_.seed_s(marks_.count)};
    trial.plan.seeds.clear();
    for (const std::size_t seed : seeds) trial.plan.seeds.push_back(kFirstTrialSeed + seed);
    for (std::size_t c = 0; c < plan_.controllers.size(); ++c) {
      for (const std::size_t seed : seeds) {
        trial.episodes.push_back(*at(seed * plan_.controllers.size() + c, mark));
      }
    }
    std::int64_t full = 0;
    for (const std::size_t seed : seeds) full = std::max(full, full_mark(seed));
    trial.full_s = static_cast<double>(std::max<std::int64_t>(0, mark - full)) * marks_.interval_s;
    return trial;
  }

  EvaluationPlan plan_;
  TrialFrame frame_;
  EpisodeMarks marks_;
  std::int64_t horizon_;  ///< mark at which the trial ends episodes
  TrialSchedule schedule_;
  std::vector<Running> running_;  ///< [seeds * controllers]
  Stopwatch clock_;
};

}  // namespace

bool Trial::shows_enough() const { return is_whole || full_s >= kFull_s; }

Trial run_trial(EvaluationPlan plan, const TrialFrame& frame) {
  return TrialRun(std::move(plan), frame).run();
}

}  // namespace traffic::train
