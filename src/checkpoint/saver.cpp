// Saver: writes checkpoints in a background thread while training continues (saver.h).
#include "traffic/checkpoint/saver.h"

#include <chrono>
#include <utility>

#include "traffic/core/error.h"

namespace traffic::checkpoint {

Saver::Saver(CheckpointManager& manager, std::int64_t max_failures, OnFailure on_failure,
             OnRejected on_rejected)
    : manager_(manager),
      failures_(max_failures),
      on_failure_(std::move(on_failure)),
      on_rejected_(std::move(on_rejected)) {}

Saver::~Saver() {
  if (in_flight_.valid()) in_flight_.wait();
}

void Saver::begin(const Snapshot& snapshot, bool best) {
  wait();
  FileImage image(snapshot);
  if (best) owed_best_.reset();
  in_flight_ = std::async(std::launch::async, [this, image = std::move(image), best]() mutable {
    return write(std::move(image), best);
  });
}

void Saver::give_up_on(const Snapshot& snapshot, bool best, const std::string& why) {
  wait();
  note_failure({.image = FileImage(snapshot), .best = best, .why = why});
}

void Saver::wait() {
  if (in_flight_.valid()) collect();
  if (!given_up_because_.empty()) throw ResourceError(given_up_because_);
}

void Saver::wait_for_best() {
  wait();
  if (!owed_best_) return;
  manager_.save_best(*owed_best_);
  owed_best_.reset();
}

bool Saver::has_given_up() {
  if (in_flight_.valid() &&
      in_flight_.wait_for(std::chrono::seconds(0)) == std::future_status::ready) {
    collect();
  }
  return !given_up_because_.empty();
}

Saver::Outcome Saver::write(FileImage image, bool best) const {
  Outcome outcome{.image = std::move(image), .best = best};
  try {
    if (owed_best_) {
      manager_.save_best(*owed_best_);
      outcome.wrote_owed_best = true;
    }
    manager_.save_step(outcome.image, best);
  } catch (const Error& error) {
    outcome.why = error.what();
  }
  return outcome;
}

void Saver::collect() {
  Outcome outcome = in_flight_.get();
  if (outcome.wrote_owed_best) owed_best_.reset();
  if (outcome.why.empty()) {
    try {
      for (const Rejected& rejected : manager_.remove_unnamed_parts()) {
        if (on_rejected_) on_rejected_(rejected);
      }
    } catch (const Error& error) {
      outcome.why = error.what();
    }
  }
  if (outcome.why.empty()) {
    failures_.succeeded();
    saved_step_ = outcome.image.step();
  } else {
    note_failure(std::move(outcome));
  }
}

void Saver::note_failure(Outcome outcome) {
  const std::int64_t step = outcome.image.step();
  if (outcome.best) owed_best_ = std::move(outcome.image);
  on_failure_(step, outcome.why);
  try {
    failures_.failed(outcome.why);
  } catch (const ResourceError& last) {
    given_up_because_ = last.what();
  }
}

}  // namespace traffic::checkpoint
