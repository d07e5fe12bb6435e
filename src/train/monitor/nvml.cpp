#include "monitor/nvml.h"

#include <dlfcn.h>
#include <fmt/format.h>

namespace traffic::train {
namespace {

constexpr int kSuccess = 0;
constexpr int kGpuSensor = 0;  ///< NVML_TEMPERATURE_GPU

/// nvmlUtilization_t of NVML, the management library of NVIDIA's driver.
struct Utilization {
  unsigned int gpu = 0;  ///< %
  unsigned int memory = 0;
};

/// nvmlMemory_t of NVML; all values in bytes.
struct Memory {
  unsigned long long total = 0;
  unsigned long long free = 0;
  unsigned long long used = 0;
};

using Device = void*;

}  // namespace

/// The functions of the library that this class calls. Their interface is stable.
struct Nvml::Functions {
  int (*init)() = nullptr;
  int (*shutdown)() = nullptr;
  int (*device)(const char*, Device*) = nullptr;
  int (*utilization)(Device, Utilization*) = nullptr;
  int (*memory)(Device, Memory*) = nullptr;
  int (*temperature)(Device, int, unsigned int*) = nullptr;
};

template <typename Function>
void Nvml::find(Function& function, const char* name) {
  function = reinterpret_cast<Function>(::dlsym(library_, name));
  if (function == nullptr && problem_.empty())
    problem_ = fmt::format("the library has no function {}", name);
}

Nvml::Nvml(const std::string& library) : functions_(std::make_unique<Functions>()) {
  library_ = ::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library_ == nullptr) {
    problem_ = ::dlerror();
    return;
  }
  find(functions_->init, "nvmlInit_v2");
  find(functions_->shutdown, "nvmlShutdown");
  find(functions_->device, "nvmlDeviceGetHandleByPciBusId_v2");
  find(functions_->utilization, "nvmlDeviceGetUtilizationRates");
  find(functions_->memory, "nvmlDeviceGetMemoryInfo");
  find(functions_->temperature, "nvmlDeviceGetTemperature");
  if (!problem_.empty()) return;
  if (const int result = functions_->init(); result != kSuccess) {
    problem_ = fmt::format("nvmlInit_v2 returned error {}", result);
  }
}

Nvml::~Nvml() {
  if (problem_.empty()) functions_->shutdown();
  if (library_ != nullptr) ::dlclose(library_);
}

std::optional<GpuLoad> Nvml::load(const std::string& pci_bus_id) const {
  if (!problem_.empty()) return std::nullopt;
  Device device = nullptr;
  Utilization utilization;
  Memory memory;
  unsigned int temperature_c = 0;
  if (functions_->device(pci_bus_id.c_str(), &device) != kSuccess ||
      functions_->utilization(device, &utilization) != kSuccess ||
      functions_->memory(device, &memory) != kSuccess ||
      functions_->temperature(device, kGpuSensor, &temperature_c) != kSuccess) {
    return std::nullopt;
  }
  return GpuLoad{.busy = utilization.gpu / 100.0,
                 .used_bytes = static_cast<std::int64_t>(memory.used),
                 .temperature_c = static_cast<double>(temperature_c)};
}

}  // namespace traffic::train
