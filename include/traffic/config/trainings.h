/// What a configuration has to know of trainings: their names, what they start from, their presets.
///
/// Trainings register themselves before a configuration is read (train::register_trainings). A
/// program that trains nothing has none; there run.phase may be any text.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace traffic::config {

inline constexpr std::size_t kNumPresets = 5;

/// What a key is set to by each preset, in the order of preset_names(); empty: the preset leaves
/// the key alone.
struct PresetRow {
  std::string_view key;
  std::array<std::string_view, kNumPresets> values;  ///< in TOML syntax
};

struct TrainingFacts {
  std::string_view name;    ///< "ppo"
  std::string_view number;  ///< under which it is known, too: "2"; empty: none
  /// Its part of a run with several trainings, the name of its result there, and the prefix of its
  /// tables: "phase2" for [phase2.ppo].
  std::string_view folder;
  std::string_view help;                      ///< what it trains, half a sentence
  std::string_view product = "Model";         ///< what its weights are, in the title of their card
  std::string_view about = {};                ///< what they do, there
  bool of_traffic = true;                     ///< they see the features of scene, says the card
  std::vector<std::string_view> starts_from;  ///< names of trainings; empty: from nothing
  bool simulates = false;                     ///< runs simulations, and is evaluated in them
  std::vector<std::string_view> sections;     ///< of the configuration that concern it alone
  std::vector<PresetRow> presets = {};

  /// Under which the configuration stores it: the number where there is one, else the name.
  [[nodiscard]] std::string_view key() const { return number.empty() ? name : number; }
  /// For people: "phase 2" or "training cross_entropy".
  [[nodiscard]] std::string title() const;
};

/// Not while another thread reads a configuration.
/// @throws Error if a name, number or folder is taken, or the folder is a table of the
/// configuration
void register_training(TrainingFacts facts);

/// In the order in which they were registered.
std::span<const TrainingFacts> trainings();
/// By name or number; null if there is none.
const TrainingFacts* find_training(std::string_view name_or_number);
/// The training that run.phase of a plan's part stands for; empty: the first.
/// @throws ConfigError
const TrainingFacts& get_training(std::string_view name_or_number);

/// Empty (the first), "all" (those that have numbers), or names and numbers with commas between.
/// @throws ConfigError if one is unknown, there twice, or starts from none that stands before it
std::vector<const TrainingFacts*> plan_of(std::string_view text);

/// Why a text is no plan, as the end of a message that begins with what was found; empty if it is.
std::string refuse_plan(std::string_view text);

}  // namespace traffic::config
