#include "graphed_step.h"
#include "traffic/core/error.h"

#ifdef TRAFFIC_CUDA
#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDAEvent.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <cuda_runtime_api.h>
#endif

namespace traffic::train {
namespace {

/// Does the work each time.
class Repeater final : public Recorder {
 public:
  void warm_up(const Work& work) override { work(); }
  void record(const Work& work) override { work_ = work; }
  void replay() override { work_(); }
  void reset() override { work_ = nullptr; }

 private:
  Work work_;
};

#ifdef TRAFFIC_CUDA

/// Warms up and records on one stream of its own: the default stream cannot be recorded, and both
/// autograd's nodes and the workspaces of cuBLAS belong to the stream on which they were first
/// used. One recording at a time: the end of one takes the workspaces of its stream away. Repeats
/// on the caller's stream.
class CudaGraphRecorder final : public Recorder {
 public:
  explicit CudaGraphRecorder(c10::Device device)
      : device_(device), stream_(c10::cuda::getStreamFromPool(false, device.index())) {}

  void warm_up(const Work& work) override {
    const c10::cuda::CUDAStream caller = c10::cuda::getCurrentCUDAStream(device_.index());
    order(caller, stream_);
    {
      const c10::cuda::CUDAStreamGuard guard(stream_);
      work();
    }
    order(stream_, caller);
  }

  void record(const Work& work) override {
    reset();
    const c10::cuda::CUDAGuard device(device_);
    // Nothing that was asked for before may come in between, and memory that was freed behind such
    // work can be had again.
    c10::cuda::device_synchronize();
    const c10::cuda::CUDAStreamGuard guard(stream_);
    auto graph = std::make_unique<at::cuda::CUDAGraph>();
    try {
      // Of this thread alone: that of NCCL's watchdog asks for events in the meantime, which in the
      // global mode would be the end of the recording.
      graph->capture_begin({0, 0}, cudaStreamCaptureModeThreadLocal);
      work();
      graph->capture_end();
    } catch (...) {
      leave_recording(*graph);
      throw;
    }
    graph_ = std::move(graph);
  }

  void replay() override { graph_->replay(); }
  void reset() override {
    if (!graph_) return;
    c10::cuda::device_synchronize();  // it may be running
    graph_.reset();
  }

 private:
  void order(const c10::cuda::CUDAStream& first, const c10::cuda::CUDAStream& second) const {
    const c10::cuda::CUDAGuard guard(device_);
    c10::cuda::CUDAEvent done;
    done.record(first);
    done.block(second);
  }

  /// The stream goes on as usual, and the next operation does not find the failure.
  void leave_recording(at::cuda::CUDAGraph& graph) const {
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    cudaStreamIsCapturing(stream_.stream(), &status);
    if (status != cudaStreamCaptureStatusNone) {
      try {
        graph.capture_end();
      } catch (const std::exception& error) {
        // Follows from what went wrong before, which the caller hears of.
        static_cast<void>(error);
      }
    }
    cudaGetLastError();  // clears it
  }

  c10::Device device_;
  c10::cuda::CUDAStream stream_;
  std::unique_ptr<at::cuda::CUDAGraph> graph_;
};

#endif

}  // namespace

std::unique_ptr<Recorder> make_recorder(c10::Device device) {
  if (device.is_cpu()) return std::make_unique<Repeater>();
#ifdef TRAFFIC_CUDA
  return std::make_unique<CudaGraphRecorder>(device);
#else
  throw ConfigError("{}: this program was built without CUDA (preset cuda)", device.str());
#endif
}

}  // namespace traffic::train
