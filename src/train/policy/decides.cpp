#include "policy/decides.h"

#include "traffic/core/error.h"
#include "traffic/core/random.h"
#include "traffic/core/random_streams.h"

namespace traffic::train {
namespace {

constexpr const char* kDecidesEntry = "decides";
constexpr const char* kAdviceMarginEntry = "advice_margin";
constexpr std::string_view kCheckpoint = "checkpoint:";

}  // namespace

std::string_view to_string(Decides decides) {
  return decides == Decides::kGreedy ? "greedy" : "sampled";
}

std::optional<Decides> decides_of(std::string_view text) {
  for (const Decides decides : {Decides::kGreedy, Decides::kSampled}) {
    if (text == to_string(decides)) return decides;
  }
  return std::nullopt;
}

std::uint64_t decision_seed(std::uint64_t traffic_seed) {
  return derive_seed(traffic_seed, {kDecisionStream});
}

void put_decides(checkpoint::Snapshot& snapshot, Decides decides) {
  snapshot.put_text(kDecidesEntry, std::string(to_string(decides)));
}

Decides decides_in(const checkpoint::Snapshot& snapshot) {
  if (!snapshot.contains(kDecidesEntry)) return Decides::kGreedy;
  const std::string& text = snapshot.text(kDecidesEntry);
  if (const auto decides = decides_of(text)) return *decides;
  throw CheckpointError("checkpoint {}: entry '{}' is '{}', expected 'greedy' or 'sampled'",
                        snapshot.source(), kDecidesEntry, text);
}

void put_advice_margin(checkpoint::Snapshot& snapshot, double margin) {
  snapshot.put_real(kAdviceMarginEntry, margin);
}

double advice_margin_in(const checkpoint::Snapshot& snapshot) {
  return snapshot.contains(kAdviceMarginEntry) ? snapshot.real(kAdviceMarginEntry) : 0.0;
}

std::optional<CheckpointName> checkpoint_name(std::string_view controller) {
  if (!controller.starts_with(kCheckpoint)) return std::nullopt;
  controller.remove_prefix(kCheckpoint.size());
  const std::size_t comma = controller.rfind(',');
  const auto decides =
      comma == std::string_view::npos ? std::nullopt : decides_of(controller.substr(comma + 1));
  return CheckpointName{.path = decides ? controller.substr(0, comma) : controller,
                        .decides = decides};
}

}  // namespace traffic::train
