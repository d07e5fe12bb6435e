/// SectionHead, which begins the section of an agent in a message between a rank and a simulation.
/// It holds the agent's name and the section's size.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "traffic/core/error.h"
#include "traffic/rollout/traffic/bytes.h"
#include "traffic/rollout/traffic/sections.h"

namespace traffic::rollout {

/// The content of the section follows the head, padded to a multiple of kUnit bytes (bytes.h).
struct SectionHead {
  std::array<char, kMaxAgentName + 1> agent{};  ///< ends with at least one zero
  std::uint64_t bytes = 0;                      ///< size of the content

  SectionHead() = default;
  SectionHead(std::string_view name, std::size_t size) : bytes(size) {
    TRAFFIC_CHECK(name.size() <= kMaxAgentName, "the name of agent {} is longer than {} characters",
                  name, kMaxAgentName);
    name.copy(agent.data(), name.size());
  }
  [[nodiscard]] std::string_view name() const {
    return {agent.data(),
            static_cast<std::size_t>(std::find(agent.begin(), agent.end(), '\0') - agent.begin())};
  }
};

/// Converts a size to the type that heads use for counts.
inline std::uint32_t count_of(std::size_t size) { return static_cast<std::uint32_t>(size); }

/// The next section of a message; the constructor reads it.
struct ReadSection {
  SectionHead head;
  std::span<const std::byte> content;

  explicit ReadSection(ByteReader& reader)
      : head(reader.take_one<SectionHead>("the head of a section")),
        content(reader.take<std::byte>(head.bytes, "a section")) {}
};

}  // namespace traffic::rollout
