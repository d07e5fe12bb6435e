/// CUDA C++ compiled at run time, for the GPU that is there: no CUDA toolkit is needed to build or
/// to run this program.
#pragma once

#include <string>
#include <vector>

namespace traffic::model::device {

/// Machine code for a compute capability that the compiler knows, else code for the newest older
/// one that the driver translates. Needs no GPU.
/// @param name of the source, for messages
/// @param compute_capability 10 * major + minor, e.g. 75
/// @throws ResourceError with the compiler's messages
std::vector<char> compile_cuda(const char* source, const char* name, int compute_capability);

}  // namespace traffic::model::device
