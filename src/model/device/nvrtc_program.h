/// Compiles CUDA C++ at run time for the GPU of the machine, so that neither building nor running
/// this program needs a CUDA toolkit.
#pragma once

#include <string>
#include <vector>

namespace traffic::model::device {

/// Compiles a program. Returns machine code if the compiler knows the compute capability. Otherwise
/// it returns code for the newest older capability, which the driver translates. Needs no GPU.
/// @param source CUDA C++
/// @param name name of the source, for messages
/// @param compute_capability 10 * major + minor, e.g. 75
/// @throws ResourceError with the compiler's messages
std::vector<char> compile_cuda(const char* source, const char* name, int compute_capability);

}  // namespace traffic::model::device
