#include "monitor/gpu.h"

#include <ATen/Context.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "traffic/core/error.h"

#ifdef TRAFFIC_CUDA
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAGuard.h>
#include <cuda_runtime_api.h>
#endif

namespace traffic::train {

std::vector<std::string> environment_settings(const std::string& prefix) {
  std::vector<std::string> settings;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    if (std::string_view(*entry).starts_with(prefix)) settings.emplace_back(*entry);
  }
  std::sort(settings.begin(), settings.end());
  return settings;
}

#ifdef TRAFFIC_CUDA

GpuInventory find_gpus() {
  GpuInventory found;
  found.built_with_cuda = true;
  const cudaError_t result = cudaGetDeviceCount(&found.count);
  if (result != cudaSuccess) {
    found.count = 0;
    found.problem = cudaGetErrorString(result);
    cudaGetLastError();  // resets CUDA's error state
  }
  return found;
}

void prepare_gpu(at::Device device, const config::Config& config) {
  if (!device.is_cuda()) return;
  c10::cuda::set_device(device.index());
  at::globalContext().lazyInitDevice(at::kCUDA);
  limit_gpu_memory(device, config);
  at::globalContext().setFloat32MatmulPrecision(config.gpu.allow_tf32 ? "high" : "highest");
}

double limit_gpu_memory(at::Device device, const config::Config& config) {
  if (!device.is_cuda()) return 1.0;
  const double share = allowed_share(config.gpu.memory_fraction, config.memory.target_vram_gb,
                                     gpu_memory(device).total);
  c10::cuda::CUDACachingAllocator::setMemoryFraction(share, device.index());
  return share;
}

std::string gpu_pci_bus_id(at::Device device) {
  if (!device.is_cuda()) return {};
  std::array<char, 32> id{};
  C10_CUDA_CHECK(cudaDeviceGetPCIBusId(id.data(), static_cast<int>(id.size()), device.index()));
  return id.data();
}

GpuMemory gpu_memory(at::Device device) {
  namespace allocator = c10::cuda::CUDACachingAllocator;
  const auto stats = allocator::getDeviceStats(device.index());
  const c10::cuda::CUDAGuard guard(device);
  std::size_t free = 0;
  std::size_t total = 0;
  C10_CUDA_CHECK(cudaMemGetInfo(&free, &total));
  // The first element of an array of statistics is the total over all pools.
  return {.allocated = stats.allocated_bytes[0].current,
          .reserved = stats.reserved_bytes[0].current,
          .peak_allocated = stats.allocated_bytes[0].peak,
          .total = static_cast<std::int64_t>(total),
          .free = static_cast<std::int64_t>(free)};
}

void empty_gpu_cache(at::Device device) {
  if (device.is_cuda()) c10::cuda::CUDACachingAllocator::emptyCache();
}

std::string describe_gpu(at::Device device) {
  if (!device.is_cuda()) return {};
  cudaDeviceProp properties{};
  C10_CUDA_CHECK(cudaGetDeviceProperties(&properties, device.index()));
  int runtime = 0;
  int driver = 0;
  C10_CUDA_CHECK(cudaRuntimeGetVersion(&runtime));
  C10_CUDA_CHECK(cudaDriverGetVersion(&driver));
  return fmt::format("{}, {:.1f} GiB, compute capability {}.{}, CUDA runtime {}, driver {}",
                     static_cast<const char*>(properties.name),
                     static_cast<double>(properties.totalGlobalMem) / (1 << 30), properties.major,
                     properties.minor, runtime, driver);
}

std::string gpus_without_peer_access() {
  std::string pairs;
  const int count = find_gpus().count;
  for (int a = 0; a < count; ++a) {
    for (int b = a + 1; b < count; ++b) {
      int can = 0;
      C10_CUDA_CHECK(cudaDeviceCanAccessPeer(&can, a, b));
      if (can == 0) pairs += fmt::format("{}GPUs {} and {}", pairs.empty() ? "" : ", ", a, b);
    }
  }
  return pairs.empty() ? pairs : pairs + " cannot access each other's memory directly";
}

#else

GpuInventory find_gpus() { return {}; }
void prepare_gpu(at::Device /*device*/, const config::Config& /*config*/) {}
double limit_gpu_memory(at::Device /*device*/, const config::Config& /*config*/) { return 1.0; }
std::string gpu_pci_bus_id(at::Device /*device*/) { return {}; }
GpuMemory gpu_memory(at::Device device) {
  throw ConfigError("{}: this program was built without CUDA", device.str());
}
void empty_gpu_cache(at::Device /*device*/) {}
std::string gpus_without_peer_access() { return {}; }
std::string describe_gpu(at::Device /*device*/) { return {}; }

#endif

}  // namespace traffic::train
