#include "optim/precision.h"

#include "traffic/core/error.h"

namespace traffic::train {

c10::ScalarType compute_type(const std::string& precision) {
  if (precision == "bf16") return c10::kBFloat16;
  return precision == "fp16" ? c10::kHalf : c10::kFloat;
}

void check_precision(const std::string& key, const std::string& precision, c10::Device device) {
  if (precision != "fp16" || device.is_cuda()) return;
  throw ConfigError(
      "{} = \"fp16\" needs a GPU, but the device is {}; on the CPU set {} = \"bf16\" or \"fp32\"",
      key, device.str(), key);
}

}  // namespace traffic::train
