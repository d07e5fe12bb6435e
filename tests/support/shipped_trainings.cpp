/// Tests that read configurations know the trainings that the program knows.
#include "traffic/train/trainings.h"

namespace traffic::test {
namespace {

[[maybe_unused]] const bool kRegistered = [] {
  train::register_trainings(train::shipped_trainings());
  return true;
}();

}  // namespace
}  // namespace traffic::test
