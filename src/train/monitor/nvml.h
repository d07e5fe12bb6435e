/// Reads the load of a GPU from NVIDIA's management library (NVML). The library comes with the
/// driver and is loaded at run time, so building requires neither the library nor a GPU.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace traffic::train {

struct GpuLoad {
  double busy = 0.0;            ///< share of about the last second in which the GPU computed
  std::int64_t used_bytes = 0;  ///< memory in use by all processes
  double temperature_c = 0.0;
};

/// The loaded library.
class Nvml {
 public:
  /// @param library name or path for dlopen
  explicit Nvml(const std::string& library = "libnvidia-ml.so.1");
  ~Nvml();
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  /// Why no GPU can be queried; empty if queries work.
  [[nodiscard]] const std::string& problem() const { return problem_; }
  /// Reads the load of a GPU. Returns nothing if the library is missing or reports an error.
  /// @param pci_bus_id "0000:3b:00.0"
  [[nodiscard]] std::optional<GpuLoad> load(const std::string& pci_bus_id) const;

 private:
  struct Functions;
  template <typename Function>
  void find(Function& function, const char* name);

  void* library_ = nullptr;
  std::string problem_;
  std::unique_ptr<Functions> functions_;
};

}  // namespace traffic::train
