/// How busy a GPU is, as NVIDIA's management library knows it. The library comes with the driver
/// and is opened while the program runs, so that neither it nor a GPU is needed to build.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace traffic::train {

struct GpuLoad {
  double busy = 0.0;            ///< share of the last second or so in which it computed
  std::int64_t used_bytes = 0;  ///< of its memory, by all processes
  double temperature_c = 0.0;
};

class Nvml {
 public:
  /// @param library as dlopen takes it
  explicit Nvml(const std::string& library = "libnvidia-ml.so.1");
  ~Nvml();
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  /// Why nothing can be asked; empty if something can.
  [[nodiscard]] const std::string& problem() const { return problem_; }
  /// Nothing if the library does not say.
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
