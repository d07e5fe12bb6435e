#include "warp_emulation.h"

#include <setjmp.h>
#include <ucontext.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <functional>
#include <memory>

namespace traffic::model::testing {
namespace {

constexpr unsigned kLanes = 32;
constexpr std::size_t kStackBytes = std::size_t{64} << 10;

struct Index {
  unsigned x = 0;
};

/// Runs one warp: resumes its lanes in turn, each until its next exchange or its end. A lane starts
/// in a context of its own. Later switches use _longjmp, which makes no system call; swapcontext
/// makes one for the mask of signals.
class Warp {
 public:
  explicit Warp(const std::function<void()>& kernel) : kernel_(kernel) {}

  void run();
  /// Each lane passes a value and receives that of lane (own number xor mask).
  float exchange(float value, unsigned mask);
  [[nodiscard]] unsigned lane() const { return lane_; }

 private:
  static void enter(unsigned low, unsigned high);
  /// Runs the current lane until its next exchange or its end.
  void resume();

  const std::function<void()>& kernel_;
  unsigned lane_ = 0;
  std::array<unsigned, kLanes> exchanges_{};
  // Lanes are at most one exchange apart, so two sets of values suffice.
  std::array<std::array<float, kLanes>, 2> values_{};
  std::array<bool, kLanes> done_{};
  std::array<ucontext_t, kLanes> starts_{};
  std::array<bool, kLanes> started_{};
  std::array<jmp_buf, kLanes> exchanging_{};  ///< where the lanes continue
  jmp_buf scheduler_{};
  std::unique_ptr<std::byte[]> stacks_ =
      std::make_unique_for_overwrite<std::byte[]>(kLanes * kStackBytes);
};

Warp* running_warp = nullptr;  // NOLINT: a register on a GPU
Index threadIdx;               // NOLINT
Index blockIdx;                // NOLINT
Index blockDim;                // NOLINT

void Warp::enter(unsigned low, unsigned high) {
  const auto address = (static_cast<std::uintptr_t>(high) << 32U) | low;
  auto* warp = reinterpret_cast<Warp*>(address);
  warp->kernel_();
  warp->done_[warp->lane_] = true;
  _longjmp(warp->scheduler_, 1);
}

void Warp::resume() {
  if (_setjmp(scheduler_) != 0) return;
  if (started_[lane_]) _longjmp(exchanging_[lane_], 1);
  started_[lane_] = true;
  setcontext(&starts_[lane_]);
}

void Warp::run() {
  running_warp = this;
  const auto address = reinterpret_cast<std::uintptr_t>(this);
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    getcontext(&starts_[lane]);
    starts_[lane].uc_stack.ss_sp = stacks_.get() + lane * kStackBytes;
    starts_[lane].uc_stack.ss_size = kStackBytes;
    makecontext(&starts_[lane], reinterpret_cast<void (*)()>(&Warp::enter), 2,
                static_cast<unsigned>(address), static_cast<unsigned>(address >> 32U));
  }
  for (unsigned left = kLanes; left > 0;) {
    for (lane_ = 0; lane_ < kLanes; ++lane_) {
      if (done_[lane_]) continue;
      threadIdx.x = lane_;
      resume();
      if (done_[lane_]) --left;
    }
  }
}

float Warp::exchange(float value, unsigned mask) {
  const unsigned me = lane_;
  auto& values = values_[exchanges_[me]++ % 2];
  values[me] = value;
  if (_setjmp(exchanging_[me]) == 0) _longjmp(scheduler_, 1);
  return values[me ^ mask];
}

float __shfl_xor_sync(unsigned /*lanes*/, float value, int mask) {  // NOLINT: CUDA's name
  return running_warp->exchange(value, static_cast<unsigned>(mask));
}
void __syncwarp() { running_warp->exchange(0.0F, 0); }  // NOLINT: CUDA's name

#define __device__
#define __global__
namespace cuda {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"  // CUDA C++ is compiled without this warning
#include "model/device/attention_kernels.cuh"
#include "model/device/lstm_kernels.cuh"
#pragma GCC diagnostic pop
}  // namespace cuda
#undef __device__
#undef __global__

/// Launches blocks of one warp. The arguments are copied byte by byte, as for a GPU.
template <typename Theirs, typename Ours>
void launch(void (*kernel)(Theirs), std::int64_t warps, const Ours& arguments) {
  static_assert(sizeof(Theirs) == sizeof(Ours));
  const auto theirs = std::bit_cast<Theirs>(arguments);
  const std::function<void()> body = [&] { kernel(theirs); };
  blockDim.x = kLanes;
  // One warp more than needed, as on a GPU with several warps per block.
  for (blockIdx.x = 0; blockIdx.x < static_cast<unsigned>(warps + 1); ++blockIdx.x) {
    Warp(body).run();
  }
}

/// One warp for each (node, head).
std::int64_t warps_of(const device::AttentionEdges& in) {
  return std::int64_t{in.nodes} * in.heads;
}
/// One lane for each unit of each row.
template <typename Arguments>
std::int64_t warps_of_cells(const Arguments& arguments) {
  return (std::int64_t{arguments.rows} * arguments.units + kLanes - 1) / kLanes;
}

}  // namespace

void EmulatedAttention::forward(const device::ForwardArguments& arguments) const {
  launch(cuda::attention_forward, warps_of(arguments.in), arguments);
}
void EmulatedAttention::backward_destination(const device::DestinationArguments& arguments) const {
  launch(cuda::attention_backward_destination, warps_of(arguments.in), arguments);
}
void EmulatedAttention::backward_source(const device::SourceArguments& arguments) const {
  launch(cuda::attention_backward_source, warps_of(arguments.in), arguments);
}
void EmulatedLstm::cell(const device::CellArguments& arguments) const {
  launch(cuda::lstm_cell, warps_of_cells(arguments), arguments);
}
void EmulatedLstm::cell_gradient(const device::CellGradientArguments& arguments) const {
  launch(cuda::lstm_cell_gradient, warps_of_cells(arguments), arguments);
}

}  // namespace traffic::model::testing
