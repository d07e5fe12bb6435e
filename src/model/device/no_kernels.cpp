// Replaces the CUDA kernels in a program that was built without CUDA: it has no kernels for GPUs.
#include "attention_kernels.h"
#include "lstm_kernels.h"
#include "traffic/core/error.h"

namespace traffic::model::device {
namespace {

[[noreturn]] void refuse(c10::Device device) {
  throw ResourceError("{}: this program was built without CUDA (preset cuda)", device.str());
}

}  // namespace

const AttentionKernels& attention_kernels_of(c10::Device device) { refuse(device); }
const LstmKernels& lstm_kernels_of(c10::Device device) { refuse(device); }

}  // namespace traffic::model::device
