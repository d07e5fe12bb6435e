/// Finds on the CPU what a CUDA graph could not record.
#pragma once

#include <torch/types.h>

#include <functional>
#include <string>
#include <vector>

namespace traffic::train::testing {

/// What a piece of work did against the rules of traffic::train::Work, forward and backward:
/// - asked for a number of a tensor, or for a shape that depends on what a tensor holds;
/// - read a tensor that is neither one of `fixed` nor the result of an operation of its own: on a
///   GPU that would come from the host's memory, once, while it is recorded;
/// - named a device: a copy from one to another.
/// @param fixed tensors that stay where they are
/// @return one line each, the operation first; empty: none
std::vector<std::string> broken_capture_rules(const std::function<void()>& work,
                                              const std::vector<torch::Tensor>& fixed);

}  // namespace traffic::train::testing
