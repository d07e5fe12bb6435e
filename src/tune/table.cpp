// Reads the table of a search over settings, a TOML file (table.h).
#include "traffic/tune/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <iterator>
#include <optional>
#include <utility>
#include <variant>

#include "traffic/config/schema.h"
#include "traffic/config/toml_reader.h"
#include "traffic/core/error.h"
#include "traffic/core/text.h"

namespace traffic::tune {
namespace {

using config::Entry;
using config::Value;

constexpr std::string_view kKeys = "keys.";
constexpr std::array<std::string_view, 13> kNames{
    "config",  "dir",        "search", "trials", "seed", "figure",        "goal",
    "budgets", "budget_key", "keep",   "ranks",  "set",  "training_seeds"};
/// Maximum number of combinations of a grid. More are probably a mistake.
constexpr std::int64_t kMostTrials = 10000;

/// The value as text for the option --set; nullopt if no key can have this type.
std::optional<std::string> text_of(const Value& value, bool inside = false) {
  if (const auto* flag = std::get_if<bool>(&value.data)) return *flag ? "true" : "false";
  if (const auto* whole = std::get_if<std::int64_t>(&value.data)) return fmt::format("{}", *whole);
  if (const auto* real = std::get_if<double>(&value.data)) return fmt::format("{}", *real);
  if (const auto* text = std::get_if<std::string>(&value.data)) {
    return inside ? config::quote(*text) : *text;
  }
  const auto* list = std::get_if<Value::List>(&value.data);
  if (list == nullptr) return std::nullopt;
  std::string all;
  for (const Value& item : *list) {
    const auto text = text_of(item, true);
    if (!text) return std::nullopt;
    all += (all.empty() ? "" : ", ") + *text;
  }
  return "[" + all + "]";
}

std::optional<double> number_in(std::string_view text) {
  double value = 0;
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// Reads a range such as "1e-4 .. 1e-2 log"; nullopt if the text is not a range.
std::optional<Choice> range_in(std::string_view text) {
  Choice choice;
  constexpr std::string_view kLog = " log";
  if (text.ends_with(kLog)) {
    choice.logarithmic = true;
    text.remove_suffix(kLog.size());
  }
  const auto dots = text.find("..");
  if (dots == std::string_view::npos) return std::nullopt;
  const auto low = number_in(text.substr(0, dots));
  const auto high = number_in(text.substr(dots + 2));
  if (!low || !high || *low >= *high || (choice.logarithmic && *low <= 0)) return std::nullopt;
  choice.low = *low;
  choice.high = *high;
  choice.whole = text.find_first_of(".eE", 0) == dots &&
                 text.find_first_of(".eE", dots + 2) == std::string_view::npos;
  return choice;
}

class TableReader {
 public:
  explicit TableReader(std::string file) : file_(std::move(file)) {}

  Table read(const std::vector<Entry>& entries) {
    for (const Entry& entry : entries) take(entry);
    finish();
    if (!wrong_.empty()) throw ConfigError("{}", wrong_);
    return table_;
  }

 private:
  void wrong(const std::string& place, const std::string& what) {
    wrong_ += fmt::format("{}{}:{}: {}", wrong_.empty() ? "" : "\n", file_, place, what);
  }
  void expected(const Entry& entry, std::string_view what) {
    wrong(entry.value_place,
          fmt::format("{} is {}, expected {}", entry.key, entry.value.type, what));
  }
  template <typename T>
  void set(T& to, const Entry& entry, std::string_view what) {
    if (const auto* value = std::get_if<T>(&entry.value.data)) {
      to = *value;
    } else {
      expected(entry, what);
    }
  }
  void set_whole(std::int64_t& to, const Entry& entry, std::int64_t least) {
    set(to, entry, "a whole number");
    if (to < least)
      wrong(entry.value_place, fmt::format("{} is {}, expected {} or more", entry.key, to, least));
  }
  template <typename T>
  void set_list(std::vector<T>& to, const Entry& entry, std::string_view what) {
    const auto* list = std::get_if<Value::List>(&entry.value.data);
    to.clear();
    if (list != nullptr) {
      for (const Value& item : *list) {
        if (const auto* value = std::get_if<T>(&item.data)) to.push_back(*value);
      }
    }
    if (list == nullptr || to.size() != list->size()) expected(entry, what);
  }
  /// Reads one of two words and returns whether it is the first one.
  bool set_word(const Entry& entry, std::string_view first, std::string_view second) {
    std::string word;
    set(word, entry, "a string");
    if (!word.empty() && word != first && word != second) {
      wrong(entry.value_place,
            fmt::format("{} is \"{}\", expected \"{}\" or \"{}\"", entry.key, word, first, second));
    }
    return word == first;
  }

  void take(const Entry& entry) {
    if (entry.key.starts_with(kKeys)) {
      if (!entry.is_table) take_choice(entry, entry.key.substr(kKeys.size()));
      return;
    }
    if (entry.key == "keys") return;
    if (entry.key == "config")
      return set(table_.config, entry, "a string, the path of a configuration file");
    if (entry.key == "dir") return set(table_.dir, entry, "a string, the path of a folder");
    if (entry.key == "search") return void(table_.grid = set_word(entry, "grid", "random"));
    if (entry.key == "trials") return set_whole(table_.trials, entry, 1);
    if (entry.key == "seed") {
      std::int64_t seed = 0;
      set_whole(seed, entry, 0);
      table_.seed = static_cast<std::uint64_t>(seed);
      return;
    }
    if (entry.key == "figure")
      return set(table_.figure, entry, "a string, the name of a number in summary.json");
    if (entry.key == "goal") return void(table_.largest = set_word(entry, "largest", "smallest"));
    if (entry.key == "budget_key")
      return set(table_.budget_key, entry, "a string, a key of the configuration");
    if (entry.key == "budgets") return set_list(table_.budgets, entry, "a list of whole numbers");
    if (entry.key == "keep")
      return set(table_.keep_share, entry, "a number with a decimal point, such as 0.5");
    if (entry.key == "ranks") return set_whole(table_.ranks, entry, 1);
    if (entry.key == "set") return set_list(table_.set, entry, "a list of \"key=value\"");
    if (entry.key == "training_seeds") {
      return set_list(table_.training_seeds, entry, "a list of whole numbers");
    }
    const auto nearest = nearest_name(entry.key, kNames);
    wrong(entry.key_place,
          fmt::format("there is no key {}{}; keys that trials vary belong in [keys]", entry.key,
                      nearest ? fmt::format(" (did you mean {}?)", *nearest) : ""));
  }

  void take_choice(const Entry& entry, const std::string& key) {
    Choice choice;
    if (const auto* text = std::get_if<std::string>(&entry.value.data)) {
      const auto range = range_in(*text);
      if (!range) {
        wrong(
            entry.value_place,
            fmt::format("{} is \"{}\", expected a list of values or a range: \"1e-4 .. 1e-2 log\" "
                        "or \"1 .. 8\"",
                        entry.key, *text));
        return;
      }
      choice = *range;
    } else if (const auto* list = std::get_if<Value::List>(&entry.value.data)) {
      for (const Value& item : *list) {
        const auto value = text_of(item);
        if (!value)
          return expected(entry,
                          "a list of values: numbers, strings, true, false, or lists of these");
        choice.values.push_back(*value);
      }
      if (choice.values.empty()) wrong(entry.value_place, entry.key + " has no values");
    } else {
      return expected(entry, "a list of values, or a range in quotes: \"1e-4 .. 1e-2 log\"");
    }
    choice.key = key;
    place_of_choice_ = entry.value_place;
    has_range_ |= choice.values.empty();
    table_.choices.push_back(std::move(choice));
  }

  void finish() {
    if (table_.config.empty())
      wrong("1:1", "config is missing: the configuration file of the trainings");
    if (table_.choices.empty())
      wrong("1:1", "[keys] is missing: the keys that trials vary, with their values");
    if (table_.training_seeds.empty()) wrong("1:1", "training_seeds is empty");
    if (table_.budgets.empty() || table_.budgets.front() < 1 ||
        !std::is_sorted(table_.budgets.begin(), table_.budgets.end(), std::less_equal<>())) {
      wrong("1:1", "budgets must be whole numbers from 1, each larger than the one before");
    }
    if (!(table_.keep_share > 0 && table_.keep_share < 1))
      wrong("1:1", "keep must be above 0 and below 1");
    if (table_.grid && has_range_) {
      wrong(place_of_choice_, "a grid needs lists of values; search = \"random\" takes ranges");
    }
    std::int64_t combinations = 1;
    for (const Choice& choice : table_.choices) {
      combinations *= static_cast<std::int64_t>(std::max<std::size_t>(choice.values.size(), 1));
      if (combinations > kMostTrials) break;
    }
    if (table_.grid && combinations > kMostTrials) {
      wrong("1:1", fmt::format("the grid has more than {} combinations; search = \"random\" tries "
                               "some of them",
                               kMostTrials));
    }
    if (table_.dir.empty()) {
      table_.dir = "runs/tune-" + std::filesystem::path(file_).stem().string();
    }
  }

  std::string file_;
  Table table_;
  std::string wrong_;
  std::string place_of_choice_ = "1:1";
  bool has_range_ = false;
};

}  // namespace

Table read_table(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in || std::filesystem::is_directory(file)) {
    throw ConfigError("{}: cannot be read; expected a table as in docs/guide/tuning.md",
                      file.string());
  }
  const std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  const auto entries = config::read_toml(
      text, [](std::string_view key) { return key == "keys" || key.starts_with(kKeys); });
  if (const auto* error = std::get_if<config::SyntaxError>(&entries)) {
    throw ConfigError("{}:{}: {}", file.string(), error->place, error->message);
  }
  return TableReader(file.string()).read(std::get<std::vector<Entry>>(entries));
}

}  // namespace traffic::tune
