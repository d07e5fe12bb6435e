/// Checks that the documents and the shipped configuration files name existing keys of the
/// configuration, and state their true defaults.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cctype>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "traffic/config/load.h"
#include "traffic/config/schema.h"
#include "traffic/config/toml_reader.h"
#include "traffic/config/write.h"
#include "traffic/core/error.h"

namespace traffic::config {
namespace {

namespace fs = std::filesystem;

/// The items of a table cell, split at commas, without backquotes.
std::vector<std::string> items(const std::string& text) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, ',');) {
    std::erase_if(part, [](char c) { return c == '`' || c == ' '; });
    parts.push_back(part);
  }
  return parts;
}

TEST(Docs, TheGuideStatesTheDefaultAndTheShippedSettings) {
  const auto defaults = flatten(Config{});
  const auto shipped = flatten(load_config(TRAFFIC_SOURCE_DIR "/configs/phase2.toml"));
  std::ifstream in(TRAFFIC_SOURCE_DIR "/docs/guide/train-a-controller.md");
  int compared = 0;
  for (std::string line; std::getline(in, line);) {
    std::smatch row;
    if (!std::regex_match(
            line, row, std::regex(R"(\| (`(?:ppo|episodes)\.[^|]*) \| ([^|]*) \| ([^|]*) \|.*)"))) {
      continue;
    }
    const auto keys = items(row[1]);
    const std::string table = keys.at(0).substr(0, keys.at(0).find('.') + 1);
    for (std::size_t i = 0; i < keys.size(); ++i, ++compared) {
      const std::string key = keys[i].starts_with(table) ? keys[i] : table + keys[i];
      EXPECT_EQ(std::stod(items(row[2]).at(i)), std::stod(defaults.at(key))) << line;
      EXPECT_EQ(std::stod(items(row[3]).at(i)), std::stod(shipped.at(key))) << line;
    }
  }
  EXPECT_GE(compared, 9);
}

/// README.md, the list of configuration files, and the documents that are written by hand.
std::vector<fs::path> documents() {
  const fs::path root = TRAFFIC_SOURCE_DIR;
  std::vector<fs::path> files{root / "README.md", root / "configs/README.md"};
  for (const auto& entry : fs::recursive_directory_iterator(root / "docs")) {
    const bool is_generated = entry.path().filename() == "configuration.md";
    if (entry.path().extension() == ".md" && !is_generated) files.push_back(entry.path());
  }
  return files;
}

std::string text_of(const fs::path& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST(Docs, NumbersThatDocumentsGiveForKeysAreTheDefaults) {
  const auto defaults = flatten(Config{});
  const std::regex number(R"(`([a-z0-9_]+(?:\.[a-z0-9_]+)+)`\s\((?:default )?(\d[\d.e-]*)[ ,;)])");
  int compared = 0;
  for (const auto& file : documents()) {
    const std::string text = text_of(file);
    for (std::sregex_iterator found(text.begin(), text.end(), number), end; found != end; ++found) {
      const auto known = defaults.find((*found)[1]);
      if (known == defaults.end()) continue;
      EXPECT_EQ(std::stod((*found)[2]), std::stod(known->second)) << file << ": " << found->str();
      ++compared;
    }
  }
  EXPECT_GE(compared, 5);
}

TEST(Docs, KeysInDocumentsExist) {
  std::set<std::string, std::less<>> keys;
  std::set<std::string, std::less<>> tables;
  for (const Row& row : schema()) {
    keys.insert(std::string(row.key));
    for (auto dot = row.key.find('.'); dot != row.key.npos; dot = row.key.find('.', dot + 1)) {
      tables.insert(std::string(row.key.substr(0, dot)));
    }
  }
  const std::set<std::string, std::less<>> extensions{
      "csv", "h", "html", "json", "jsonl", "onnx", "pt", "lock", "log", "safetensors", "toml"};
  const std::regex name(R"(`(?:--set )?((?:[a-z0-9_]+\.)+[a-z0-9_]+)(?: ?=[^`]*)?`)");
  int known = 0;
  for (const auto& file : documents()) {
    const std::string text = text_of(file);
    for (std::sregex_iterator found(text.begin(), text.end(), name), end; found != end; ++found) {
      const std::string key = (*found)[1];
      const std::string table = key.substr(0, key.find('.'));
      if (!tables.contains(table) || extensions.contains(key.substr(key.rfind('.') + 1))) continue;
      EXPECT_TRUE(keys.contains(key) || tables.contains(key)) << file << " names the key " << key;
      ++known;
    }
  }
  EXPECT_GE(known, 100);
}

/// Files below a folder, also in its subfolders, whose names end with `extension`.
std::vector<fs::path> files_below(const char* folder, const char* extension) {
  std::vector<fs::path> files;
  for (const auto& entry :
       fs::recursive_directory_iterator(fs::path(TRAFFIC_SOURCE_DIR) / folder)) {
    if (entry.path().extension() == extension) files.push_back(entry.path());
  }
  return files;
}

/// Keys that a configuration sets, also those that it sets for one phase only.
std::set<std::string_view> keys_set_in(const std::string& text) {
  const auto read = read_toml(text, [](std::string_view /*table*/) { return true; });
  std::set<std::string_view> keys;
  for (const Entry& entry : std::get<std::vector<Entry>>(read)) {
    const Row* row = find_row(entry.key);
    if (row == nullptr) row = find_row(entry.key.substr(entry.key.find('.') + 1));
    if (row != nullptr) keys.insert(row->key);
  }
  return keys;
}

/// Whether a text contains a key that is not part of a longer name.
bool names(const std::string& text, std::string_view key) {
  const auto continues = [&](std::size_t at) {
    return at < text.size() && (std::isalnum(static_cast<unsigned char>(text[at])) != 0 ||
                                text[at] == '_' || text[at] == '.');
  };
  for (std::size_t at = text.find(key); at != text.npos; at = text.find(key, at + 1)) {
    const bool begins = at == 0 || !continues(at - 1);
    const std::size_t end = at + key.size();
    // A full stop behind the key ends the sentence, unless a longer name follows.
    const bool ends = !continues(end) || (text[end] == '.' && !continues(end + 1));
    if (begins && ends) return true;
  }
  return false;
}

/// The ```toml blocks of a document.
std::vector<std::string> toml_blocks_of(const fs::path& file) {
  std::ifstream in(file);
  std::vector<std::string> blocks;
  bool inside = false;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("```")) {
      inside = line == "```toml";
      if (inside) blocks.emplace_back();
    } else if (inside) {
      blocks.back() += line + "\n";
    }
  }
  return blocks;
}

TEST(Docs, EveryKeyIsSetInAShippedFileOrNamedInAGuide) {
  std::set<std::string_view> used;
  for (const fs::path& file : files_below("configs", ".toml"))
    used.merge(keys_set_in(text_of(file)));
  std::string guides = text_of(fs::path(TRAFFIC_SOURCE_DIR) / "README.md");
  for (const fs::path& file : files_below("docs/guide", ".md")) {
    guides += text_of(file);
    for (const std::string& example : toml_blocks_of(file)) used.merge(keys_set_in(example));
  }
  std::vector<std::string_view> unused;
  for (const Row& row : schema()) {
    if (!used.contains(row.key) && !names(guides, row.key)) unused.push_back(row.key);
  }
  EXPECT_THAT(unused, ::testing::IsEmpty())
      << "no shipped file sets these keys, and no guide names them: explain in docs/guide when to "
         "set them, or make them constants";
  EXPECT_GT(used.size(), 100U);
}

TEST(Docs, ExamplesOfConfigurationsAreAccepted) {
  int examples = 0;
  for (const fs::path& file : files_below("docs/guide", ".md")) {
    if (file.filename() == "tuning.md") continue;  // its TOML blocks are for traffic_tune
    for (const std::string& example : toml_blocks_of(file)) {
      ++examples;
      try {
        parse_plan(example, file.filename().string());
      } catch (const ConfigError& error) {
        ADD_FAILURE() << error.what();
      }
    }
  }
  EXPECT_GE(examples, 10);
}

}  // namespace
}  // namespace traffic::config
