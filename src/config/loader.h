/// Collects the values of all sources (file, preset, command line) in a Config, and lists the
/// errors in these values. load.cpp uses it for each configuration that it loads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "assign.h"
#include "traffic/config/load.h"
#include "traffic/config/toml_reader.h"
#include "traffic/config/trainings.h"

namespace traffic::config {

/// Whether an unknown key or table in a TOML text is an error. In assignments (of the command line
/// or a preset) it always is.
enum class UnknownKeys : std::uint8_t { kAreErrors, kArePassedOver };

class Loader {
 public:
  /// @param training the training whose tables ([phase2.ppo]) are used, or null. Tables of all
  ///   other trainings are only checked
  explicit Loader(const TrainingFacts* training = nullptr,
                  UnknownKeys unknown = UnknownKeys::kAreErrors)
      : training_(training), unknown_(unknown) {}

  void read_text(std::string_view text, std::string_view name);
  void apply_preset(std::string_view preset);
  void apply(const Assignment& assignment);
  /// Checks for contradictions and returns the configuration.
  /// @param whole false skips this check, because the tables of a training, which have not been
  ///   read, may still resolve a contradiction
  /// @throws ConfigError with one line for each error
  Config finish(bool whole = true);
  /// Unknown keys and tables that were ignored.
  [[nodiscard]] const std::vector<std::string>& passed_over() const { return passed_over_; }

 private:
  /// Where a value came from, and when it was read (1 for the first value).
  struct Origin {
    std::string source;
    std::size_t order = 0;
  };

  void read_entry(const Entry& entry, std::string_view name);
  void set(const Row& row, const Value& value, const std::string& source, const TrainingFacts* of);
  void problem(const std::string& source, std::string_view key, std::string_view what);
  [[nodiscard]] std::string unknown(std::string_view full_key, bool is_table) const;
  void complete_lights_ppo();
  void check_contradictions();

  const TrainingFacts* training_;
  UnknownKeys unknown_;
  std::vector<std::string> passed_over_;
  Config config_;
  std::map<std::string_view, Origin> origins_;  ///< by key of the schema
  std::set<std::string_view> broken_;           ///< keys whose value was refused
  std::vector<std::string> lines_;              ///< messages of the errors
  std::size_t problems_ = 0;                    ///< number of errors
  std::size_t values_read_ = 0;
};

}  // namespace traffic::config
