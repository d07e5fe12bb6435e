#include "evaluate/trial_schedule.h"

#include <algorithm>

namespace traffic::train {

TrialSchedule::TrialSchedule(std::size_t controllers, int processes, std::int64_t marks)
    : controllers_(controllers), processes_(static_cast<double>(processes)), marks_(marks) {}

Course& TrialSchedule::course(std::size_t seed, std::size_t controller) {
  const std::size_t index = seed * controllers_ + controller;
  if (index >= courses_.size()) courses_.resize((seed + 1) * controllers_);
  return courses_[index];
}

/// Estimated real time of an episode up to a mark: the mean over the controller's episodes. If none
/// of them has shown its speed, it is the mean over the episodes of all controllers.
double TrialSchedule::seconds_to(std::size_t controller, std::int64_t mark) const {
  double own_sum = 0.0;
  double own_count = 0.0;
  double sum = 0.0;
  double count = 0.0;
  for (std::size_t i = 0; i < courses_.size(); ++i) {
    if (!shows_speed(courses_[i])) continue;
    const double seconds = seconds_of(courses_[i], mark);
    sum += seconds;
    count += 1.0;
    if (i % controllers_ != controller) continue;
    own_sum += seconds;
    own_count += 1.0;
  }
  if (own_count > 0.0) return own_sum / own_count;
  return count > 0.0 ? sum / count : 0.0;
}

double TrialSchedule::remaining_s(std::size_t seeds, std::int64_t mark) const {
  std::vector<double> whole_s;
  for (std::size_t c = 0; c < controllers_; ++c) whole_s.push_back(seconds_to(c, mark));
  double work_s = 0.0;
  double longest_s = 0.0;
  for (std::size_t i = 0; i < seeds * controllers_; ++i) {
    double own_s = whole_s[i % controllers_];
    if (i < courses_.size() && courses_[i].started) {
      const Course& course = courses_[i];
      if (shows_speed(course)) own_s = seconds_of(course, mark);
      own_s = course.ended ? 0.0 : std::max(0.0, own_s - course.elapsed_s);
    }
    work_s += own_s;
    longest_s = std::max(longest_s, own_s);
  }
  return std::max(longest_s, work_s / processes_);
}

double TrialSchedule::seed_s(std::int64_t mark) const {
  double sum = 0.0;
  for (std::size_t c = 0; c < controllers_; ++c) sum += seconds_to(c, mark);
  return sum / processes_;
}

std::int64_t TrialSchedule::last_fitting_mark(std::size_t seeds, std::int64_t present,
                                              double left_s) const {
  std::int64_t mark = present;
  while (mark > 1 && remaining_s(seeds, mark) > left_s) --mark;
  return mark;
}

std::int64_t TrialSchedule::horizon(std::int64_t present, std::int64_t wanted_mark,
                                    double left_s) const {
  constexpr std::size_t kWholeSeeds = 3;
  constexpr std::size_t kSeeds = 4;
  constexpr std::size_t kFewestSeeds = 2;
  if (remaining_s(kWholeSeeds, present) <= left_s) return present;
  const std::int64_t of_few = last_fitting_mark(kFewestSeeds, present, left_s);
  return std::max(last_fitting_mark(kSeeds, present, left_s), std::min(wanted_mark, of_few));
}

}  // namespace traffic::train
