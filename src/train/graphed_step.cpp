#include "graphed_step.h"

#include <spdlog/spdlog.h>

#include <exception>

namespace traffic::train {

void GraphedStep::run(const Work& work) {
  if (state_ == State::kWarmingUp) {
    if (warm_ups_ < kWarmUps) {
      ++warm_ups_;
      recorder_->warm_up(work);
      return;
    }
    record(work);
  }
  if (state_ == State::kRecorded) {
    recorder_->replay();
  } else {
    work();
  }
}

void GraphedStep::record(const Work& work) {
  try {
    recorder_->record(work);
    state_ = State::kRecorded;
  } catch (const std::exception& error) {
    state_ = State::kGivenUp;
    spdlog::warn(
        "a minibatch could not be recorded as a CUDA graph and is computed operation by operation "
        "from here on, which is slower and nothing else: {}",
        error.what());
  }
}

void GraphedStep::forget() {
  recorder_->reset();
  if (state_ == State::kGivenUp) return;
  state_ = State::kWarmingUp;
  warm_ups_ = 0;
}

}  // namespace traffic::train
