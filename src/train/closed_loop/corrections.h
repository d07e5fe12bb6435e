/// Records corrections: how SUMO's own driver would continue from the places that another driver
/// has reached. The training `driving` learns from corrections.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <vector>

#include "traffic/driving/recorded_scene.h"
#include "traffic/sim/driving_env.h"

namespace traffic::train {

/// Collects the corrections of an episode as a scene that a training reads like recorded traffic.
/// Its frames come in sequences: the past of all vehicles up to a moment, then the way that SUMO's
/// own driver would take each ego from there. Each sequence contains an example for each ego.
class Corrections {
 public:
  explicit Corrections(std::uint64_t seed) { scene_.seed = seed; }

  /// Stores the vehicles of the current frame. Call it before each drive().
  /// @param asks whether to add a sequence. To record it, SUMO's own driver drives on from here,
  ///   which is slow
  void add(sim::DrivingEnv& env, bool asks);
  /// Whether no sequence has been added yet.
  [[nodiscard]] bool empty() const { return scene_.time_s.empty(); }
  /// Writes the file. @throws ResourceError if it cannot be written
  void save(const std::filesystem::path& file, const std::string& scenario) const;

 private:
  using Frame = std::vector<sim::DrivenVehicle>;

  std::int32_t vehicle_of(const sim::DrivenVehicle& seen);
  void add_frame(std::vector<driving::SceneNode> nodes, std::span<const std::uint8_t> signals);

  driving::RecordedScene scene_;
  std::array<Frame, driving::kHistory> past_;  ///< the current frame comes first
  std::size_t num_past_ = 0;
  std::map<std::uint32_t, std::int32_t> index_of_;  ///< index in the scene, by vehicle id
};

}  // namespace traffic::train
