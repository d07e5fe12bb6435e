/// Work of fixed shape that is done over and over: recorded once, then repeated as a whole.
///
/// A minibatch of phase 2 is some three hundred operations, too small to keep a GPU busy while its
/// host launches the next one; a recording is launched at once.
#pragma once

#include <c10/core/Device.h>

#include <functional>
#include <memory>

namespace traffic::train {

/// Tensor operations on tensors that stay where they are: what differs from one time to the next is
/// what those tensors hold. Keeps no tensor of its own beyond a call, asks for no number of a
/// tensor, and takes none from the host (traffic/core/operations_only.h).
using Work = std::function<void()>;

/// Records what a device is asked for. One thread at a time.
class Recorder {
 public:
  Recorder() = default;
  virtual ~Recorder() = default;
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  /// Does the work, in the circumstances in which it will be recorded.
  virtual void warm_up(const Work& work) = 0;
  /// Takes the work down without doing it. The recording from before is gone.
  /// @throws whatever went wrong; then there is no recording, and the device can be used as before
  virtual void record(const Work& work) = 0;
  /// Does the work of the recording that there is.
  virtual void replay() = 0;
  /// Forgets the recording, before its tensors go away.
  virtual void reset() = 0;
};

/// CUDA graphs on a GPU. On the CPU, where nothing is gained by recording, one that does the work
/// each time: tests of what is recorded run anywhere.
/// @throws ConfigError for a GPU in a program built without CUDA
std::unique_ptr<Recorder> make_recorder(c10::Device device);

/// Decides when to record. A recording that fails is not tried again: a warning tells why, and from
/// then on the work is done operation by operation.
class GraphedStep {
 public:
  /// Times that the work is done before it is recorded: libraries choose their algorithms, and
  /// memory that stays is allocated.
  static constexpr int kWarmUps = 3;

  explicit GraphedStep(std::unique_ptr<Recorder> recorder) : recorder_(std::move(recorder)) {}

  /// Does the work, once.
  /// @param work the same each time, until forget()
  void run(const Work& work);
  /// The tensors of the work will move: it is recorded anew, after warming up again.
  void forget();

  [[nodiscard]] bool has_recording() const { return state_ == State::kRecorded; }

 private:
  enum class State { kWarmingUp, kRecorded, kGivenUp };
  void record(const Work& work);

  std::unique_ptr<Recorder> recorder_;
  State state_ = State::kWarmingUp;
  int warm_ups_ = 0;
};

}  // namespace traffic::train
