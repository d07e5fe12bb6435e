/// The progress bar for a set of episodes, such as the uncontrolled runs of a baseline or an
/// evaluation.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "traffic/config/config.h"
#include "traffic/report/progress_bar.h"
#include "traffic/rollout/traffic/period.h"

namespace traffic::train {

class EpisodeBar {
 public:
  /// @param episodes number of episodes of this rank
  /// @param speaks whether this rank shows the bar; otherwise the object does nothing
  EpisodeBar(const std::string& label, std::size_t episodes, const config::Config& config,
             bool speaks)
      : total_(static_cast<std::int64_t>(episodes)) {
    if (!speaks) return;
    bar_.emplace(report::ProgressOptions{.label = label,
                                         .total_steps = total_,
                                         .unit = "env steps",
                                         .mode = config.log.progress,
                                         .line_interval_s = 5.0});
  }

  void add(const rollout::Period& period) {
    ended_ += period.done() ? 1 : 0;
    // The caller reports the result of finished runs, so the bar does not announce its end.
    if (!bar_ || ended_ >= total_) return;
    bar_->update(ended_, period.num_steps(), {});
  }

 private:
  std::int64_t total_;
  std::int64_t ended_ = 0;
  std::optional<report::ProgressBar> bar_;
};

}  // namespace traffic::train
