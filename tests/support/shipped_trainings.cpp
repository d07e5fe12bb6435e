/// Registers the trainings of traffic_train before main() begins. It is linked into tests that read
/// configurations, because each training adds sections to the configuration.
#include "traffic/train/trainings.h"

namespace traffic::test {
namespace {

[[maybe_unused]] const bool kRegistered = [] {
  train::register_trainings(train::shipped_trainings());
  return true;
}();

}  // namespace
}  // namespace traffic::test
