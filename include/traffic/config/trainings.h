/// The list of trainings with the facts that a configuration needs: names, starting points,
/// presets.
///
/// train::register_trainings() fills this list before a configuration is read. Programs that do not
/// train leave the list empty and accept any text as run.phase.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace traffic::config {

inline constexpr std::size_t kNumPresets = 5;

/// The values of a key in each preset, in the order of preset_names(). An empty value means that
/// the preset does not set the key.
struct PresetRow {
  std::string_view key;
  std::array<std::string_view, kNumPresets> values;  ///< in TOML syntax
};

/// One training, such as phase 2.
struct TrainingFacts {
  std::string_view name;    ///< "ppo"
  std::string_view number;  ///< other name, such as "2"; empty if the training has none
  /// A name such as "phase2". In a run of several trainings it names the folder and the result of
  /// this one. In a configuration it begins the names of its tables, as in [phase2.ppo].
  std::string_view folder;
  std::string_view help;               ///< the subject of the training, a phrase without a verb
  std::string_view product = "Model";  ///< what the weights are, for the title of the model card
  std::string_view about = {};         ///< use of the weights, for the model card
  bool of_traffic = true;              ///< whether the network reads features of the module scene
  std::vector<std::string_view>
      starts_from;                         ///< names of trainings from whose results it can start
  bool simulates = false;                  ///< whether it runs simulations and is evaluated in them
  std::vector<std::string_view> sections;  ///< tables of the configuration that only it uses
  std::vector<PresetRow> presets = {};

  /// The value of run.phase in a stored configuration: the number if there is one, else the name.
  [[nodiscard]] std::string_view key() const { return number.empty() ? name : number; }
  /// The name in messages: "phase 2" or "training cross_entropy".
  [[nodiscard]] std::string title() const;
};

/// Adds a training. Must not be called while another thread reads a configuration.
/// @throws Error if another training has the same name, number or folder, or if the folder has the
/// name of a table of the configuration
void register_training(TrainingFacts facts);

/// All trainings, in the order in which they were registered.
std::span<const TrainingFacts> trainings();
/// Finds a training by name or number; null if there is none.
const TrainingFacts* find_training(std::string_view name_or_number);
/// The training that a value of run.phase names; the first training if the value is empty.
/// @throws ConfigError if there is no such training
const TrainingFacts& get_training(std::string_view name_or_number);

/// The trainings that a text for run.phase names. The text contains names and numbers separated by
/// commas. An empty text means the first training; "all" means all trainings with numbers.
/// @throws ConfigError if a training is unknown, is named twice, or cannot start from the one
/// before it
std::vector<const TrainingFacts*> plan_of(std::string_view text);

/// Why plan_of() would refuse a text, as the end of an error message; empty if it would not.
std::string refuse_plan(std::string_view text);

}  // namespace traffic::config
