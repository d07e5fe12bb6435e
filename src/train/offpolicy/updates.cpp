#include "offpolicy/updates.h"

#include <torch/types.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace traffic::train::offpolicy {

double Updates::learning_rate_factor(double progress) const {
  return learning_rate_scale(parts_.settings, parts_.communicator.size()) *
         std::lerp(1.0, parts_.settings.final_learning_rate_share, std::min(1.0, progress));
}

void Updates::after(const Lived& lived) {
  if (lived.transitions < parts_.settings.learning_starts) return;
  owed_steps_ += lived.env_steps;
  const std::int64_t interval = parts_.settings.update_interval * parts_.communicator.size();
  for (; owed_steps_ >= interval; owed_steps_ -= interval) {
    update(learning_rate_factor(lived.progress));
  }
}

/// Draws a batch and makes an update: targets, backward, reduce, clip, Adam.
void Updates::update(double learning_rate_factor) {
  Rng rng = parts_.replay.rng_of(kReplayStream, count_);
  const Batch* batch = nullptr;
  {
    const auto drawing = parts_.time_split.measure(TimeShare::kData);
    batch = &parts_.replay.draw(rng);
  }
  const auto learning = parts_.time_split.measure(TimeShare::kLearn);
  const int ranks = parts_.communicator.size();
  const double total_batch = static_cast<double>(batch->obs.size(0) * ranks);
  const Figures figures =
      parts_.learner.update(*batch, {.update = count_,
                                     .learning_rate_factor = learning_rate_factor,
                                     .total_batch = total_batch,
                                     .rng = rng});
  for (const auto& [name, value] : figures) {
    sums_[name] += value / (name == "grad_norm" ? ranks : total_batch);
  }
  ++count_;
  ++summed_;
}

report::NamedValues Updates::take_figures() {
  std::vector<double> mine;
  for (const auto& [name, sum] : sums_) mine.push_back(sum);
  const torch::Tensor all = torch::tensor(mine, torch::kDouble);
  if (summed_ > 0) parts_.communicator.all_reduce(all);
  const double* sum = all.const_data_ptr<double>();
  report::NamedValues figures;
  for (const auto& [name, own] : sums_) {
    figures.emplace_back("train/" + name, *sum++ / static_cast<double>(summed_));
  }
  sums_.clear();
  summed_ = 0;
  return figures;
}

std::optional<WatchedLoss> watched_loss(const report::NamedValues& figures) {
  const auto found = std::find_if(figures.begin(), figures.end(),
                                  [](const auto& figure) { return figure.first == "train/loss"; });
  if (found == figures.end()) return std::nullopt;
  return WatchedLoss{.value = found->second};
}

void Updates::save_to(checkpoint::Snapshot& snapshot) const {
  snapshot.put_int("offpolicy/updates", count_);
  snapshot.put_int("offpolicy/owed_steps", owed_steps_);
}

void Updates::restore_from(const checkpoint::Snapshot& snapshot) {
  count_ = snapshot.integer("offpolicy/updates");
  owed_steps_ = snapshot.integer("offpolicy/owed_steps");
}

double epsilon_after(const OffPolicy& settings, std::int64_t env_steps) {
  const double factor = std::pow(settings.epsilon_speed, static_cast<double>(env_steps));
  return std::max(settings.epsilon_end, settings.epsilon * factor);
}

}  // namespace traffic::train::offpolicy
