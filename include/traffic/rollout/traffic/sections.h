/// The agents' parts of the messages between a rank and a simulation. An order to a simulation and
/// its answer consist of a common head and a section for each agent that acts. Only the agent's own
/// code knows the content of its section.
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

/// The sections of an answer, each in the type of its agent (VehicleSection, LightSection).
class Sections {
 public:
  /// Returns the section of this type. Adds an empty one if there is none.
  template <typename Section>
  Section& get() {
    std::any& section = sections_[typeid(Section)];
    if (!section.has_value()) section = Section{};
    return std::any_cast<Section&>(section);
  }
  /// Returns the section of this type, or an empty one if the agent does not act.
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

  /// Adds the section of an agent. An agent has at most one.
  /// @param agent its name in env.agents
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
    throw WorkerError("an order has {} bytes, expected a multiple of {}", bytes.size(),
                      sizeof(Command));
  }
  return {reinterpret_cast<const Command*>(bytes.data()), bytes.size() / sizeof(Command)};
}

}  // namespace traffic::rollout
