// Encodes and decodes the answer of a simulation after a control period (period_codec.h).
#include "period_codec.h"

#include <array>
#include <cstring>

#include "section_head.h"
#include "traffic/core/error.h"
#include "traffic/rollout/traffic/agent_format.h"

namespace traffic::rollout {
namespace {

constexpr std::uint32_t kPeriodMark = 0x54525045;
/// Bytes reserved for the head and the arrays growth and conflict_growth.
constexpr std::size_t kCommonBytes = std::size_t{8} << 20;

/// Head of the message. The arrays growth [S, T] and conflict_growth [S, C, T] follow, for S steps,
/// C conflicts and T terms of the objective, then the sections of the agents.
struct PeriodHead {
  std::uint32_t mark;
  std::uint8_t terminated;
  std::uint8_t truncated;
  std::uint32_t num_steps;
  std::uint32_t num_conflicts;
  std::uint32_t num_terms;
  std::uint32_t num_sections;
  double time_s;
  scene::EpisodeScore score;
};

void check_score(const scene::EpisodeScore& score) {
  const auto& road = score.road_emissions;
  const auto& waiting = score.waiting_emissions;
  const std::array<double, 15> numbers{
      score.seconds,       score.completion_sum, score.speed_sum,       score.speed_square_sum,
      score.abs_accel_sum, score.time_loss_s,    score.depart_delay_s,  score.standing_s,
      score.driven_m,      road.co2_g,           road.fuel_g,           road.electricity_wh,
      waiting.co2_g,       waiting.fuel_g,       waiting.electricity_wh};
  require_plausible(std::span<const double>(numbers), "the score");
}

void read_section(ByteReader& reader, Period& out) {
  const ReadSection section(reader);
  ByteReader content(section.content);
  format_of(section.head.name()).read(content, out);
  content.expect_end();
}

}  // namespace

std::size_t period_bytes(const config::Config& config) {
  std::size_t bytes = kCommonBytes;
  for (const std::string& agent : config.env.agents) {
    bytes += sizeof(SectionHead) + padded(format_of(agent).answer_bytes(config));
  }
  return bytes;
}

PeriodWriter::PeriodWriter(const Period& period, std::span<std::byte> buffer) : writer_(buffer) {
  writer_.put_one(PeriodHead{.mark = kPeriodMark,
                             .terminated = period.terminated,
                             .truncated = period.truncated,
                             .num_steps = static_cast<std::uint32_t>(period.num_steps()),
                             .num_conflicts = static_cast<std::uint32_t>(period.num_conflicts),
                             .num_terms = static_cast<std::uint32_t>(period.num_terms),
                             .num_sections = 0,
                             .time_s = period.time_s,
                             .score = period.score});
  writer_.put(period.growth);
  writer_.put(period.conflict_growth);
}

void PeriodWriter::add(std::string_view agent, const std::function<void(ByteWriter&)>& write) {
  const std::size_t at = writer_.used();
  writer_.put_one(SectionHead());
  const std::size_t begin = writer_.used();
  write(writer_);
  const SectionHead head(agent, writer_.used() - begin);
  std::memcpy(writer_.room().data() + at, &head, sizeof(head));
  auto* num_sections = writer_.room().data() + offsetof(PeriodHead, num_sections);
  std::uint32_t count = 0;
  std::memcpy(&count, num_sections, sizeof(count));
  ++count;
  std::memcpy(num_sections, &count, sizeof(count));
}

void read_period(std::span<const std::byte> bytes, Period& out) {
  ByteReader reader(bytes);
  const auto head = reader.take_one<PeriodHead>("the head");
  if (head.mark != kPeriodMark) {
    throw WorkerError("the answer does not begin with the mark of a control period");
  }
  out.time_s = head.time_s;
  out.terminated = head.terminated != 0;
  out.truncated = head.truncated != 0;
  if (head.num_terms == 0 || head.num_terms > scene::kNumTerms) {
    throw WorkerError("the answer has {} terms of the objective, expected 1 to {}", head.num_terms,
                      scene::kNumTerms);
  }
  out.num_conflicts = head.num_conflicts;
  out.num_terms = head.num_terms;
  out.score = head.score;
  const std::uint64_t steps = head.num_steps;
  out.growth = reader.take<double>(steps * head.num_terms, "growth");
  out.conflict_growth =
      reader.take<double>(steps * head.num_conflicts * head.num_terms, "conflict_growth");
  require_plausible(std::span<const double>(&head.time_s, 1), "time_s");
  require_plausible(out.growth, "growth");
  require_plausible(out.conflict_growth, "conflict_growth");
  check_score(out.score);
  out.sections.clear();
  for (std::uint32_t s = 0; s < head.num_sections; ++s) read_section(reader, out);
  reader.expect_end();
}

}  // namespace traffic::rollout
