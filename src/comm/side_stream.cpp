// Makes the side stream of a device, on which work runs beside the caller's.
#include "traffic/comm/side_stream.h"

#include "thread_stream.h"
#include "traffic/core/error.h"

#ifdef TRAFFIC_CUDA
#include <c10/cuda/CUDAEvent.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#endif

namespace traffic::comm {

#ifdef TRAFFIC_CUDA
namespace {

/// Calls the work at once, with this stream as the current CUDA stream. An event makes the GPU
/// operations of the work wait for earlier operations on the caller's stream.
class CudaStream final : public SideStream {
 public:
  explicit CudaStream(at::Device device)
      : device_(device), stream_(c10::cuda::getStreamFromPool(false, device.index())) {}

  void submit(std::function<void()> work) override {
    order(c10::cuda::getCurrentCUDAStream(device_.index()), stream_);
    const c10::cuda::CUDAStreamGuard guard(stream_);
    work();
  }
  void join() override { order(stream_, c10::cuda::getCurrentCUDAStream(device_.index())); }

 private:
  void order(const c10::cuda::CUDAStream& first, const c10::cuda::CUDAStream& second) const {
    const c10::cuda::CUDAGuard guard(device_);
    c10::cuda::CUDAEvent done;
    done.record(first);
    done.block(second);
  }

  at::Device device_;
  c10::cuda::CUDAStream stream_;
};

}  // namespace
#endif

std::unique_ptr<SideStream> make_side_stream(at::Device device) {
  if (device.is_cpu()) return std::make_unique<ThreadStream>();
#ifdef TRAFFIC_CUDA
  return std::make_unique<CudaStream>(device);
#else
  throw ConfigError("{}: this program was built without CUDA (preset cuda)", device.str());
#endif
}

}  // namespace traffic::comm
