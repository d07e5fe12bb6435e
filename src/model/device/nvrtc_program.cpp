// Compiles CUDA C++ at run time with NVIDIA's compiler library, NVRTC.
#include "nvrtc_program.h"

#include <nvrtc.h>

#include <algorithm>
#include <array>
#include <memory>

#include "traffic/core/error.h"

namespace traffic::model::device {
namespace {

void check(nvrtcResult result, const char* call) {
  if (result == NVRTC_SUCCESS) return;
  throw ResourceError(
      "{} failed: {}; if libnvrtc is damaged, remove .deps/torch and run launch/setup.sh --cuda",
      call, nvrtcGetErrorString(result));
}
#define TRAFFIC_NVRTC(call) check((call), #call)

struct DestroyProgram {
  void operator()(nvrtcProgram program) const { nvrtcDestroyProgram(&program); }
};
using Program = std::unique_ptr<std::remove_pointer_t<nvrtcProgram>, DestroyProgram>;

/// The newest architecture that both the compiler and the GPU support.
int best_architecture(int compute_capability) {
  int count = 0;
  TRAFFIC_NVRTC(nvrtcGetNumSupportedArchs(&count));
  std::vector<int> known(static_cast<std::size_t>(count));
  TRAFFIC_NVRTC(nvrtcGetSupportedArchs(known.data()));
  std::erase_if(known, [&](int arch) { return arch > compute_capability; });
  if (known.empty()) {
    throw ResourceError(
        "the GPU's compute capability {}.{} is lower than any that this version of CUDA supports; "
        "set run.device = \"cpu\"",
        compute_capability / 10, compute_capability % 10);
  }
  return *std::ranges::max_element(known);
}

std::string log_of(nvrtcProgram program) {
  std::size_t size = 0;
  TRAFFIC_NVRTC(nvrtcGetProgramLogSize(program, &size));
  std::string log(size, '\0');
  TRAFFIC_NVRTC(nvrtcGetProgramLog(program, log.data()));
  return log.c_str();
}

}  // namespace

std::vector<char> compile_cuda(const char* source, const char* name, int compute_capability) {
  const int architecture = best_architecture(compute_capability);
  const bool is_exact = architecture == compute_capability;
  nvrtcProgram created = nullptr;
  TRAFFIC_NVRTC(nvrtcCreateProgram(&created, source, name, 0, nullptr, nullptr));
  const Program program(created);
  // "sm" is machine code for one architecture, "compute" is code that the driver translates.
  const std::string target =
      fmt::format("--gpu-architecture={}_{}", is_exact ? "sm" : "compute", architecture);
  const std::array<const char*, 2> options{target.c_str(), "--std=c++17"};
  const nvrtcResult result =
      nvrtcCompileProgram(program.get(), static_cast<int>(options.size()), options.data());
  if (result != NVRTC_SUCCESS) {
    throw ResourceError("{} could not be compiled for compute capability {}.{}: {}", name,
                        compute_capability / 10, compute_capability % 10, log_of(program.get()));
  }
  std::size_t size = 0;
  std::vector<char> code;
  if (is_exact) {
    TRAFFIC_NVRTC(nvrtcGetCUBINSize(program.get(), &size));
    code.resize(size);
    TRAFFIC_NVRTC(nvrtcGetCUBIN(program.get(), code.data()));
  } else {
    TRAFFIC_NVRTC(nvrtcGetPTXSize(program.get(), &size));
    code.resize(size);
    TRAFFIC_NVRTC(nvrtcGetPTX(program.get(), code.data()));
  }
  return code;
}

}  // namespace traffic::model::device
