/// ActingVehicles, the agent `vehicles` within a SUMO simulation. It carries out the commands of
/// the rank's policy. To the rank it reports frames (graphs of all vehicles), the vehicles that may
/// get a command (candidates), the vehicles under control, and what scripts command or advise.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "traffic/config/config.h"
#include "traffic/rollout/traffic/agent_in_simulation.h"
#include "traffic/rollout/traffic/period.h"
#include "traffic/scene/advisor.h"
#include "traffic/scene/controller.h"
#include "traffic/scene/frame.h"
#include "traffic/sim/sumo_env.h"

namespace traffic::rollout {

class ActingVehicles final : public AgentInSimulation {
 public:
  explicit ActingVehicles(const config::Config& config);

  void begin(const BeginningEpisode& episode) override;
  void begin_period() override;
  void obey(std::span<const std::byte> orders) override;
  void before_step(std::int64_t step) override;
  void note_step(const MadeStep& step) override;
  void note_start() override { note_frame(); }
  void write(ByteWriter& section, bool terminated, bool done) override;

 private:
  /// Stores the present frame if the rank observes the vehicles in this episode.
  void note_frame();
  /// For each vehicle under control, counts its steps, and the steps in which the vehicle or its
  /// follower brakes hard or is too close to the vehicle ahead.
  void note_controlled();

  scene::CandidateRule candidate_rule_;
  std::unique_ptr<scene::Advisor> advisor_;  ///< null without vehicles.advisor
  sim::SumoEnv* sumo_ = nullptr;
  bool observed_ = false;    ///< whether the rank observes the vehicles in this episode
  bool is_advised_ = false;  ///< whether the rank commands the vehicles and has an advisor
  // Collected in the present control period:
  std::vector<scene::GraphFrame> frames_;  ///< the first num_frames_ belong to this period
  std::size_t num_frames_ = 0;
  std::vector<scene::Candidate> candidates_;
  std::vector<ControlledVehicle> controlled_;
  std::vector<scene::Command> scripted_;
  std::vector<scene::Command> commands_;
  VehicleSection section_;
};

}  // namespace traffic::rollout
