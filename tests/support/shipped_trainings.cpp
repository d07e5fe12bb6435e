/// Registers the trainings of the program, for tests that read configurations.
#include "traffic/train/trainings.h"

namespace traffic::test {
namespace {

[[maybe_unused]] const bool kRegistered = [] {
  train::register_trainings(train::shipped_trainings());
  return true;
}();

}  // namespace
}  // namespace traffic::test
