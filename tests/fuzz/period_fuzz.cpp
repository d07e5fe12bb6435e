// Fuzz target: reads what a simulation writes at the end of a control period into memory that it
// shares with a rank.
#include <cstdlib>
#include <cstring>
#include <vector>

#include "rollout/traffic/period_codec.h"
#include "traffic/core/error.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // The copy is aligned like the shared memory, and nothing after it could be read by mistake.
  std::vector<std::byte> bytes(size);
  if (size > 0) std::memcpy(bytes.data(), data, size);
  traffic::rollout::Period period;
  try {
    traffic::rollout::read_period(bytes, period);
  } catch (const traffic::Error&) {
    return 0;
  }
  // If the period is accepted, all of its values can be used.
  double sum = 0.0;
  for (const auto& frame : period.of<traffic::rollout::VehicleSection>().frames) {
    for (const auto source : frame.edge_src)
      sum += frame.vehicle_id[static_cast<std::size_t>(source)];
    for (const float value : frame.node_features) sum += value;
    for (const float value : frame.edge_features) sum += value;
    for (std::size_t i = 0; i + 1 < frame.edge_ptr.size(); ++i) {
      if (frame.edge_ptr[i] > frame.edge_ptr[i + 1]) std::abort();
    }
  }
  for (const double value : period.growth) sum += value;
  for (const double value : period.of<traffic::rollout::LightSection>().cost_s) sum += value;
  for (const float value : period.of<traffic::rollout::LightSection>().rows) sum += value;
  for (const auto source : period.of<traffic::rollout::LightSection>().graph.edge_src) {
    sum += period.of<traffic::rollout::LightSection>().cost_s[static_cast<std::size_t>(source)];
  }
  if (!(sum > -1e300 && sum < 1e300)) std::abort();
  return 0;
}
