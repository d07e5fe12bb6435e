/// Sections: the agents' parts of the messages between a rank and a simulation. An agent is a kind
/// of thing that a policy controls, such as vehicles or lights. An order and its answer consist of
/// a common head and one section for each agent in env.agents. Only the agent's own code interprets
/// its section.
#pragma once

#include <any>
#include <cstddef>
#include <cstring>
#include <map>
#include <span>
#include <string_view>
#include <typeindex>
#include <vector>

#include "traffic/core/error.h"

namespace traffic::rollout {

/// Names of the shipped agents in env.agents.
inline constexpr std::string_view kVehicles = "vehicles";
inline constexpr std::string_view kLights = "lights";
/// Maximum length of an agent's name.
inline constexpr std::size_t kMaxAgentName = 23;

/// The sections of an answer. Each agent has its own type of section (VehicleSection,
/// LightSection).
class Sections {
 public:
  /// Returns the section of this type. Adds an empty section if there is none.
  template <typename Section>
  Section& get() {
    std::any& section = sections_[typeid(Section)];
    if (!section.has_value()) section = Section{};
    return std::any_cast<Section&>(section);
  }
  /// Returns the section of this type, or an empty section if there is none.
  template <typename Section>
  [[nodiscard]] const Section& get() const {
    static const Section kNone{};
    const auto found = sections_.find(typeid(Section));
    return found == sections_.end() ? kNone : std::any_cast<const Section&>(found->second);
  }
  void clear() { sections_.clear(); }

 private:
  std::map<std::type_index, std::any> sections_;
};

/// The orders of a rank to a simulation for the next control period.
class Orders {
 public:
  struct Section {
    std::string_view agent;
    std::span<const std::byte> commands;
  };

  /// Adds the section of an agent. An agent has at most one section.
  /// @param agent name of the agent in env.agents
  /// @param commands plain structs, which must stay valid while the orders are used
  template <typename Command>
  void add(std::string_view agent, std::span<const Command> commands) {
    static_assert(std::is_trivially_copyable_v<Command>);
    sections_.push_back({agent, std::as_bytes(commands)});
  }
  [[nodiscard]] std::span<const Section> sections() const { return sections_; }

 private:
  std::vector<Section> sections_;
};

/// The commands in a section of an order.
/// @param bytes aligned like the commands
/// @throws WorkerError if the bytes are not a whole number of commands
template <typename Command>
std::span<const Command> commands_in(std::span<const std::byte> bytes) {
  static_assert(std::is_trivially_copyable_v<Command>);
  if (bytes.size() % sizeof(Command) != 0) {
    throw WorkerError(
        "an agent's section of an order has {} bytes, expected a multiple of {}, the size of a "
        "command",
        bytes.size(), sizeof(Command));
  }
  return {reinterpret_cast<const Command*>(bytes.data()), bytes.size() / sizeof(Command)};
}

}  // namespace traffic::rollout
