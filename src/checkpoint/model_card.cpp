// Writes a model card: a Markdown page that describes exported weights.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "traffic/checkpoint/safetensors.h"
#include "traffic/core/atomic_file.h"

namespace traffic::checkpoint {
namespace {

std::string front_matter(const ModelCard& card) {
  std::string text = "---\n";
  if (!card.license.empty()) text += fmt::format("license: {}\n", card.license);
  if (!card.tags.empty()) text += fmt::format("tags:\n- {}\n", fmt::join(card.tags, "\n- "));
  return text + "---\n\n";
}

std::string facts_table(const TextMap& facts) {
  std::string text = "| | |\n| --- | --- |\n";
  for (const auto& [name, value] : facts) text += fmt::format("| {} | {} |\n", name, value);
  return text + "\n";
}

}  // namespace

void write_model_card(const std::filesystem::path& path, const ModelCard& card) {
  std::string text = front_matter(card);
  text += fmt::format("# {}\n\n{}\n\nWeights: `{}` (safetensors).\n\n", card.title, card.summary,
                      card.weights_file);
  if (!card.facts.empty()) text += "## Facts\n\n" + facts_table(card.facts);
  if (!card.results.empty()) {
    text += "## Results\n\n| metric | value |\n| --- | --- |\n";
    for (const auto& [name, value] : card.results)
      text += fmt::format("| {} | {:.6g} |\n", name, value);
    text += "\n";
  }
  if (!card.limits.empty()) {
    text += "## Limits\n\n";
    for (const std::string& limit : card.limits) text += fmt::format("- {}\n", limit);
    text += "\n";
  }
  text += card.sections;
  if (!card.config_toml.empty()) {
    text += fmt::format("## Configuration\n\n```toml\n{}\n```\n", card.config_toml);
  }
  write_file_atomically(path, text);
}

}  // namespace traffic::checkpoint
