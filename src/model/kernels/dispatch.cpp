// Chooses at run time which version of the kernels to use: each instruction set has its own
// namespace.
#include "kernels/kernels.h"

namespace traffic::model::kernels {

namespace x86_64 {
extern const InstructionSet kTables;
}
namespace avx2 {
extern const InstructionSet kTables;
}
namespace avx512 {
extern const InstructionSet kTables;
}

namespace {

bool has_avx512() {
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
         __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("fma");
}
bool has_avx2() {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
         __builtin_cpu_supports("bmi2");
}

}  // namespace

const InstructionSet* usable_instruction_set(int i) {
  const struct {
    bool usable;
    const InstructionSet* tables;
  } all[] = {
      {has_avx512(), &avx512::kTables}, {has_avx2(), &avx2::kTables}, {true, &x86_64::kTables}};
  for (const auto& set : all) {
    if (set.usable && i-- == 0) return set.tables;
  }
  return nullptr;
}

const InstructionSet& instruction_set() {
  static const InstructionSet& chosen = *usable_instruction_set(0);
  return chosen;
}

}  // namespace traffic::model::kernels
