/// The facts about trainings that a configuration needs: names, starting points, presets.
///
/// train::register_trainings registers them before a configuration is read. A program that trains
/// nothing registers none; it accepts any text as run.phase.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace traffic::config {

inline constexpr std::size_t kNumPresets = 5;

/// The values of a key in each preset, in the order of preset_names(); empty: the preset does not
/// set the key.
struct PresetRow {
  std::string_view key;
  std::array<std::string_view, kNumPresets> values;  ///< in TOML syntax
};

struct TrainingFacts {
  std::string_view name;    ///< "ppo"
  std::string_view number;  ///< its other name, "2"; empty: it has none
  /// The folder of the training in a run of several, the name of its result there, and the prefix
  /// of its tables: "phase2" for [phase2.ppo].
  std::string_view folder;
  std::string_view help;               ///< the subject of the training, a phrase without a verb
  std::string_view product = "Model";  ///< kind of its weights, in the title of the model card
  std::string_view about = {};         ///< use of its weights, in the model card
  bool of_traffic = true;              ///< whether its weights read the features of `scene`
  std::vector<std::string_view>
      starts_from;                         ///< names of trainings whose results it can start from
  bool simulates = false;                  ///< whether it runs simulations and is evaluated in them
  std::vector<std::string_view> sections;  ///< tables of the configuration that only it uses
  std::vector<PresetRow> presets = {};

  /// The value of run.phase in a stored configuration: the number if there is one, else the name.
  [[nodiscard]] std::string_view key() const { return number.empty() ? name : number; }
  /// For people: "phase 2" or "training cross_entropy".
  [[nodiscard]] std::string title() const;
};

/// Adds a training. Must not be called while another thread reads a configuration.
/// @throws Error if a name, number or folder is taken, or the folder is a table of the
/// configuration
void register_training(TrainingFacts facts);

/// All trainings, in the order in which they were registered.
std::span<const TrainingFacts> trainings();
/// Finds a training by name or number; null if there is none.
const TrainingFacts* find_training(std::string_view name_or_number);
/// The training that a value of run.phase names; the first one if it is empty.
/// @throws ConfigError
const TrainingFacts& get_training(std::string_view name_or_number);

/// The trainings that run.phase names: empty (the first), "all" (those with numbers), or names and
/// numbers separated by commas.
/// @throws ConfigError if a training is unknown, is named twice, or cannot start from the one
/// before it
std::vector<const TrainingFacts*> plan_of(std::string_view text);

/// Why a text is no plan, as the end of an error message; empty if it is one.
std::string refuse_plan(std::string_view text);

}  // namespace traffic::config
