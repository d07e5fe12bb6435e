#include "closed_loop/drive_fields.h"

#include <type_traits>

namespace traffic::train {
namespace {

using driving::DriveMeasures;

template <auto Member>
DriveField field(const char* name) {
  using Value = std::remove_cvref_t<decltype(DriveMeasures{}.*Member)>;
  return {.name = name,
          .get = [](const DriveMeasures& one) { return static_cast<double>(one.*Member); },
          .set = [](DriveMeasures& one, double value) { one.*Member = static_cast<Value>(value); }};
}

}  // namespace

const std::vector<DriveField>& drive_fields() {
  static const std::vector<DriveField> fields = {
      field<&DriveMeasures::seconds>("seconds"),
      field<&DriveMeasures::driven_m>("driven_m"),
      field<&DriveMeasures::progress_m>("progress_m"),
      field<&DriveMeasures::collisions>("collisions"),
      field<&DriveMeasures::faults>("faults"),
      field<&DriveMeasures::off_lane_s>("off_lane_s"),
      field<&DriveMeasures::red_lights>("red_lights"),
      field<&DriveMeasures::close_s>("close_s"),
      field<&DriveMeasures::uncomfortable_s>("uncomfortable_s"),
      field<&DriveMeasures::is_arrived>("is_arrived"),
      field<&DriveMeasures::is_lost>("is_lost"),
  };
  return fields;
}

}  // namespace traffic::train
