#include "attention_kernels.h"
#include "traffic/core/error.h"

namespace traffic::model::device {

const AttentionKernels& attention_kernels_of(c10::Device device) {
  throw ResourceError("{}: this program was built without CUDA (preset cuda)", device.str());
}

}  // namespace traffic::model::device
