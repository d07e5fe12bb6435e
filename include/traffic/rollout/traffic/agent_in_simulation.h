/// The table of agents as a simulation knows them: how they observe the traffic and carry out
/// orders. The shipped agents are vehicles and lights; another agent is a class derived from
/// AgentInSimulation and a row that is passed to run_sumo_env().
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

/// An episode that begins. The simulation has been reset and waits for its first step.
struct BeginningEpisode {
  sim::SumoEnv& sumo;  ///< the same for all episodes
  const EpisodeSpec& spec;
  const scene::Controller* script = nullptr;  ///< the scripted controller; null: none
};

/// A step of the simulation that has just been made.
struct MadeStep {
  bool frame_due = false;                    ///< a second or the period has ended
  std::span<const scene::Command> scripted;  ///< commands that the scripted controller gave
};

/// An agent within one simulation. The environment calls begin(), then for the answer to the reset
/// and for every control period begin_period(), and at its end write(). Between these it calls
/// obey() once, and before_step() and note_step() for every step.
class AgentInSimulation {
 public:
  AgentInSimulation() = default;
  virtual ~AgentInSimulation() = default;
  AgentInSimulation(const AgentInSimulation&) = delete;
  AgentInSimulation& operator=(const AgentInSimulation&) = delete;

  virtual void begin(const BeginningEpisode& episode) = 0;
  /// Discards the measurements of the last control period.
  virtual void begin_period() {}
  /// Carries out the agent's section of an order. Not called if the order has none.
  /// @throws WorkerError if the bytes are not commands to this agent
  virtual void obey(std::span<const std::byte> orders) = 0;
  /// @param step of the control period, from 1
  virtual void before_step(std::int64_t /*step*/) {}
  virtual void note_step(const MadeStep& /*step*/) {}
  /// Notes the first observation of an episode, which no step precedes.
  virtual void note_start() {}
  /// Writes the agent's section of the answer.
  /// @param terminated the scenario has reached its end
  /// @param done the episode has ended, at the end of the scenario or before it
  virtual void write(ByteWriter& section, bool terminated, bool done) = 0;
};

struct SimulatedAgent {
  std::string_view agent;  ///< its name in env.agents
  std::function<std::unique_ptr<AgentInSimulation>(const config::Config&)> make;
  /// As AgentFormat::own_sections.
  std::vector<config::OwnSection> own_sections = {};
};

}  // namespace traffic::rollout
