// Reads recordings that consist of chunks, i.e. JSON files with the traffic of some time.
#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "formats.h"
#include "json_chunk.h"
#include "traffic/core/error.h"

namespace traffic::data_prep {
namespace {

namespace fs = std::filesystem;

nlohmann::json read_small_json(const fs::path& path) {
  std::ifstream file(path);
  try {
    return nlohmann::json::parse(file);
  } catch (const nlohmann::json::exception& error) {
    throw DataError("{}: {}; expected well-formed JSON", path.string(), error.what());
  }
}

class JsonChunks final : public Recording {
 public:
  JsonChunks(const std::string& path, std::unique_ptr<TextInput> input, InputProblems& problems)
      : problems_(problems) {
    const fs::path given(path);
    if (fs::is_directory(given)) {
      list_chunks(given / "metadata.json");
    } else if (given.filename() == "metadata.json") {
      list_chunks(given);
    } else {
      chunks_.push_back(path);
      first_ = std::move(input);
    }
  }

  void read(const FrameSink& sink) override {
    std::int64_t samples = 0;
    std::int64_t vehicles = 0;
    for (std::size_t i = 0; i < chunks_.size(); ++i) {
      const auto input =
          i == 0 && first_ ? std::move(first_) : std::make_unique<TextInput>(chunks_[i].string());
      CountedBytes bytes(*input);
      ChunkHandler handler(input->name(), bytes, problems_, sink);
      nlohmann::json::sax_parse(ByteIterator(bytes), ByteIterator(), &handler);
      if (handler.stopped()) return;
      samples += handler.samples();
      vehicles += handler.vehicles();
      share_ = static_cast<double>(i + 1) / static_cast<double>(chunks_.size());
    }
    if (!statistics_.empty()) compare(samples, vehicles);
  }

  [[nodiscard]] double share_read() const override { return share_; }

 private:
  void list_chunks(const fs::path& metadata) {
    if (!fs::exists(metadata)) {
      throw DataError("{}: the file does not exist; it must list the chunks of the folder",
                      metadata.string());
    }
    const auto index = read_small_json(metadata);
    if (!index.is_object() || !index.contains("chunks") || !index["chunks"].is_array() ||
        index["chunks"].empty()) {
      throw DataError("{}: has no list \"chunks\" of file names", metadata.string());
    }
    for (const auto& name : index["chunks"]) {
      const fs::path chunk = name.is_string() ? fs::path(name.get<std::string>()) : fs::path();
      if (chunk.empty() || chunk.is_absolute() || *chunk.begin() == "..") {
        throw DataError("{}: \"chunks\" has {}, expected the name of a file in the folder",
                        metadata.string(), name.dump().substr(0, 60));
      }
      chunks_.push_back(metadata.parent_path() / chunk);
    }
    const fs::path statistics = metadata.parent_path() / "statistics.json";
    if (fs::exists(statistics)) statistics_ = statistics;
  }

  /// Compares the counts in statistics.json with the counts in the chunks. They differ if chunks
  /// are lost or changed.
  void compare(std::int64_t samples, std::int64_t vehicles) {
    const auto expected = read_small_json(statistics_);
    for (const auto& [name, found] :
         {std::pair{"samples", samples}, std::pair{"vehicles", vehicles}}) {
      if (!expected.is_object() || !expected.contains(name)) continue;
      const auto& count = expected[name];
      if (count.is_number_integer() && count.get<std::int64_t>() == found) continue;
      problems_.report(statistics_.string(), 0,
                       fmt::format("states {} {}, but the chunks have {}; some are lost or changed",
                                   count.dump(), name, found));
    }
  }

  InputProblems& problems_;
  std::vector<fs::path> chunks_;
  fs::path statistics_;
  std::unique_ptr<TextInput> first_;
  std::atomic<double> share_{0};
};

}  // namespace

std::unique_ptr<Recording> read_json(const std::string& path, std::unique_ptr<TextInput> input,
                                     InputProblems& problems) {
  return std::make_unique<JsonChunks>(path, std::move(input), problems);
}

}  // namespace traffic::data_prep
