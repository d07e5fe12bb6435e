/// A substitute for NVIDIA's management library (NVML), which tests load in its place. It has one
/// GPU with the PCI address 0000:3b:00.0, and its numbers never change.
#include <cstring>

namespace {

struct Utilization {
  unsigned int gpu;
  unsigned int memory;
};
struct Memory {
  unsigned long long total;
  unsigned long long free;
  unsigned long long used;
};

int the_gpu = 0;
bool is_open = false;
constexpr int kNotFound = 6;

}  // namespace

extern "C" {

int nvmlInit_v2() {
  is_open = true;
  return 0;
}
int nvmlShutdown() {
  is_open = false;
  return 0;
}
int nvmlDeviceGetHandleByPciBusId_v2(const char* bus, void** device) {
  if (!is_open || std::strcmp(bus, "0000:3b:00.0") != 0) return kNotFound;
  *device = &the_gpu;
  return 0;
}
int nvmlDeviceGetUtilizationRates(void* device, Utilization* out) {
  *out = {87, 40};
  return device == &the_gpu ? 0 : kNotFound;
}
int nvmlDeviceGetMemoryInfo(void* device, Memory* out) {
  *out = {24ULL << 30U, 18ULL << 30U, 6ULL << 30U};
  return device == &the_gpu ? 0 : kNotFound;
}
int nvmlDeviceGetTemperature(void* device, int sensor, unsigned int* out) {
  *out = 61;
  return device == &the_gpu && sensor == 0 ? 0 : kNotFound;
}
}
