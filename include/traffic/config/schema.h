/// The schema of the configuration: one Row for each key. The program checks, explains and prints
/// the configuration by these rows, and writes docs/reference/configuration.md from them. The
/// default of a key is the initial value of its field in config.h.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "traffic/config/config.h"

namespace traffic::config {

/// Points to the field of a Config that holds the value of a key.
using Field = std::variant<bool*, std::int64_t*, double*, std::string*, std::vector<std::string>*,
                           std::vector<double>*>;

/// The range of allowed numbers. In a list it applies to each number.
struct Range {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  bool low_open = false;   ///< whether `low` itself is not allowed
  bool high_open = false;  ///< whether `high` itself is not allowed

  [[nodiscard]] bool contains(double value) const;
  /// "1 to 64", "> 0", ">= 0 and < 1"; empty if every number is allowed
  [[nodiscard]] std::string describe() const;
};

inline Range between(double low, double high) { return {.low = low, .high = high}; }
inline Range at_least(double low) { return {.low = low}; }

/// The description of one key.
struct Row {
  std::string_view key;  ///< "train.learning_rate"
  Field (*field)(Config&);
  std::string_view help;  ///< one sentence
  std::string_view unit = {};
  Range range = {};
  std::vector<std::string_view> choices =
      {};  ///< allowed values of a string; empty if all are allowed
  /// Says why a string is refused; empty if it is allowed. Only used if `choices` is empty. May be
  /// null.
  std::string (*refuse)(std::string_view) = nullptr;
  bool takes_integers = false;    ///< whether a string may be written as an integer without quotes
  bool is_learning_rate = false;  ///< whether halve_learning_rates() halves it

  [[nodiscard]] std::string_view section() const { return key.substr(0, key.rfind('.')); }
  [[nodiscard]] std::string_view name() const { return key.substr(key.rfind('.') + 1); }
};

/// A TOML table.
struct Section {
  std::string_view name;
  std::string_view help;
};

/// All rows, section by section in the order of sections().
std::span<const Row> schema();
std::span<const Section> sections();
/// Names of the sections that are the same for all phases, so that [phase2.log] is an error. They
/// describe the ranks, the run folder, the GPUs and the logs, which the program sets up before the
/// first phase begins.
std::span<const std::string_view> sections_of_the_whole_run();
/// A section that belongs to one training or one agent, with its rows.
struct OwnSection {
  Section section;
  std::vector<Row> rows;
};

/// Adds a section that belongs to a training or an agent. A Config keeps its values as an
/// extension:
///
///     struct Search { std::int64_t population = 32; };
///     register_section({"cem", "Cross-entropy search."},
///                      {{TRAFFIC_EXTENSION_KEY("cem", Search, population),
///                        .help = "Candidates of an iteration.", .range = between(2, 1e6)}});
///     config.extension<Search>().population
///
/// Call it before a configuration is read. @throws Error if a section of that name exists already
void register_section(const Section& section, const std::vector<Row>& rows);
/// Adds an agent besides vehicles and lights: its name becomes a choice of env.agents, and its
/// sections become part of the configuration. Call it before a configuration is read.
/// @throws Error if an agent or section of that name exists already
void register_agent(std::string_view name, const std::vector<OwnSection>& sections);

/// The members `key` and `field` of a Row for a value in Config::extension<Struct>().
#define TRAFFIC_EXTENSION_KEY(section, Struct, member)                         \
  .key = section "." #member,                                                  \
  .field = [](::traffic::config::Config& config) -> ::traffic::config::Field { \
    return &config.extension<Struct>().member;                                 \
  }

/// The row of a key, or null.
const Row* find_row(std::string_view key);

/// Halves the value of every key whose row has is_learning_rate, also in registered sections.
void halve_learning_rates(Config& config);

/// The type for messages: "integer", "number", "string", "boolean", "list of strings" or "list of
/// numbers".
std::string_view type_name(const Field& field);
/// Describes the allowed values of a key for messages and help: "1 to 64", "one of fp32, bf16".
/// Empty if all values of the type are allowed.
std::string describe_allowed(const Row& row);
/// The value as TOML writes it; reading it back gives the same bits.
std::string to_toml_value(const Field& field);
/// Writes a text as a TOML basic string, in quotes.
std::string quote(std::string_view text);

}  // namespace traffic::config
