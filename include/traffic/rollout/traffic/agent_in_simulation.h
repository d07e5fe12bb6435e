/// AgentInSimulation, the interface through which an agent observes the traffic of a SUMO
/// simulation and carries out the orders of its rank. An agent is a kind of thing that a policy
/// controls; the shipped agents are vehicles and lights.
///
/// To add an agent, derive a class from AgentInSimulation and pass a SimulatedAgent to
/// run_sumo_env().
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "traffic/config/schema.h"
#include "traffic/rollout/traffic/bytes.h"
#include "traffic/rollout/traffic/episode.h"
#include "traffic/scene/action.h"
#include "traffic/scene/controller.h"
#include "traffic/sim/sumo_env.h"

namespace traffic::rollout {

/// Describes an episode to an agent when the episode begins. The simulation has been reset and has
/// made no step yet.
struct BeginningEpisode {
  sim::SumoEnv& sumo;  ///< the simulation; the same object in all episodes
  const EpisodeSpec& spec;
  const scene::Controller* script = nullptr;  ///< the scripted controller, null without one
};

/// Describes the step that the simulation has just made.
struct MadeStep {
  bool frame_due = false;  ///< agents must record a frame: a second or the control period has ended
  std::span<const scene::Command> scripted;  ///< commands of the scripted controller in this step
};

/// An agent within one simulation. TrafficEnvironment calls its functions in this order:
/// - at the start of an episode: begin(), begin_period(), note_start(), write();
/// - in every control period: begin_period(), obey(), before_step() and note_step() for every
///   simulation step, write().
class AgentInSimulation {
 public:
  AgentInSimulation() = default;
  virtual ~AgentInSimulation() = default;
  AgentInSimulation(const AgentInSimulation&) = delete;
  AgentInSimulation& operator=(const AgentInSimulation&) = delete;

  virtual void begin(const BeginningEpisode& episode) = 0;
  /// Discards the measurements of the last control period.
  virtual void begin_period() {}
  /// Carries out the agent's section of an order. Not called if the order has no section for this
  /// agent.
  /// @throws WorkerError if the bytes are not commands to this agent
  virtual void obey(std::span<const std::byte> orders) = 0;
  /// @param step number of the step in the control period, from 1
  virtual void before_step(std::int64_t /*step*/) {}
  virtual void note_step(const MadeStep& /*step*/) {}
  /// Records the first observation of an episode, before its first step.
  virtual void note_start() {}
  /// Writes the agent's section of the answer.
  /// @param terminated the scenario has reached its end
  /// @param done the episode has ended, at the end of the scenario or before it
  virtual void write(ByteWriter& section, bool terminated, bool done) = 0;
};

/// Tells a simulation how to create an agent.
struct SimulatedAgent {
  std::string_view agent;  ///< name of the agent in env.agents
  std::function<std::unique_ptr<AgentInSimulation>(const config::Config&)> make;
  /// Same meaning as AgentFormat::own_sections (agent_format.h).
  std::vector<config::OwnSection> own_sections = {};
};

}  // namespace traffic::rollout
