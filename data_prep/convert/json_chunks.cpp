#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "formats.h"
#include "traffic/core/error.h"

namespace traffic::data_prep {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kJsonReadBytes = 1 << 16;
constexpr int kMaxJsonDepth = 32;

/// Bytes of an input for the JSON library, which asks for one at a time; counts lines.
class CountedBytes {
 public:
  explicit CountedBytes(TextInput& input) : input_(input), buffer_(kJsonReadBytes, '\0') {}
  /// @return -1 at the end
  int next() {
    if (at_ == filled_) {
      filled_ = input_.read(buffer_);
      at_ = 0;
      if (filled_ == 0) return -1;
    }
    const char c = buffer_[at_++];
    line_ += c == '\n' ? 1 : 0;
    return static_cast<unsigned char>(c);
  }
  [[nodiscard]] std::int64_t line() const { return line_; }

 private:
  TextInput& input_;
  std::string buffer_;
  std::size_t at_ = 0;
  std::size_t filled_ = 0;
  std::int64_t line_ = 1;
};

/// An input iterator over CountedBytes, as nlohmann::json reads from.
class ByteIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  ByteIterator() = default;
  explicit ByteIterator(CountedBytes& bytes) : bytes_(&bytes) { ++*this; }
  const char& operator*() const { return value_; }
  ByteIterator& operator++() {
    const int c = bytes_->next();
    if (c < 0) bytes_ = nullptr;
    value_ = static_cast<char>(c);
    return *this;
  }
  bool operator==(const ByteIterator& other) const { return bytes_ == other.bytes_; }
  bool operator!=(const ByteIterator& other) const { return bytes_ != other.bytes_; }

 private:
  CountedBytes* bytes_ = nullptr;
  char value_ = 0;
};

/// Takes a chunk {"samples": [{"time_s": .., "vehicles": [{..}, ..]}, ..]} as it is read.
class ChunkHandler : public nlohmann::json_sax<nlohmann::json> {
 public:
  ChunkHandler(const std::string& file, const CountedBytes& bytes, InputProblems& problems,
               const FrameSink& sink)
      : file_(file), bytes_(bytes), problems_(problems), sink_(sink), frame_(), vehicle_() {}

  bool null() override { return true; }
  bool boolean(bool) override { return scalar("true or false"); }
  bool number_integer(number_integer_t value) override {
    return number(static_cast<double>(value));
  }
  bool number_unsigned(number_unsigned_t value) override {
    return number(static_cast<double>(value));
  }
  bool number_float(number_float_t value, const string_t&) override { return number(value); }
  bool binary(binary_t&) override { return scalar("bytes"); }
  bool string(string_t& value) override;
  bool key(string_t& name) override {
    key_ = name;
    return true;
  }
  bool start_object(std::size_t) override;
  bool end_object() override;
  bool start_array(std::size_t) override;
  bool end_array() override;
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception& e) override {
    problems_.report(file_, bytes_.line(),
                     fmt::format("no well-formed JSON here ({}); the rest of the chunk cannot be "
                                 "read",
                                 e.what()));
    return false;
  }

  [[nodiscard]] bool stopped() const { return stopped_; }
  [[nodiscard]] std::int64_t samples() const { return samples_; }
  [[nodiscard]] std::int64_t vehicles() const { return vehicles_; }

 private:
  enum class In { kChunk, kSamples, kSample, kVehicles, kVehicle, kOther };

  [[nodiscard]] In where() const { return path_.empty() ? In::kOther : path_.back(); }
  bool enter(In place) {
    if (path_.size() >= kMaxJsonDepth) {
      throw DataError("{}:{}: values within values, {} deep; expected samples of vehicles", file_,
                      bytes_.line(), kMaxJsonDepth);
    }
    path_.push_back(place);
    return true;
  }
  bool number(double value);
  bool scalar(const char* found) { return wrong(found); }
  bool wrong(const std::string& found);
  double* number_of_key();
  void finish_vehicle();

  const std::string& file_;
  const CountedBytes& bytes_;
  InputProblems& problems_;
  const FrameSink& sink_;
  std::vector<In> path_;
  std::string key_;
  RecordedFrame frame_;
  RecordedVehicle vehicle_;
  bool has_time_ = false;
  bool sound_ = true;
  bool stopped_ = false;
  double angle_deg_ = kUnknown;
  double lane_index_ = kUnknown;
  std::int64_t samples_ = 0;
  std::int64_t vehicles_ = 0;
};

double* ChunkHandler::number_of_key() {
  if (key_ == "x_m") return &vehicle_.x_m;
  if (key_ == "y_m") return &vehicle_.y_m;
  if (key_ == "speed_mps") return &vehicle_.speed_mps;
  if (key_ == "acceleration_mps2") return &vehicle_.accel_mps2;
  if (key_ == "lane_pos_m") return &vehicle_.lane_pos_m;
  if (key_ == "lane_index") return &lane_index_;
  if (key_ == "length_m") return &vehicle_.length_m;
  if (key_ == "angle_deg") return &angle_deg_;
  if (key_ == "speed_limit_mps") return &vehicle_.speed_limit_mps;
  return nullptr;
}

bool ChunkHandler::number(double value) {
  if (where() == In::kSample && key_ == "time_s") {
    frame_.time_s = value;
    has_time_ = true;
  } else if (where() == In::kVehicle) {
    if (key_ == "id") {
      vehicle_.name = frame_.keep(fmt::format("{}", value));
    } else if (double* to = number_of_key()) {
      *to = value;
    } else if (key_ == "type" || key_ == "lane") {
      return wrong("a number");
    }
  }
  return true;
}

bool ChunkHandler::string(string_t& value) {
  if (where() == In::kVehicle) {
    if (key_ == "id") {
      vehicle_.name = frame_.keep(value);
    } else if (key_ == "type") {
      vehicle_.type = frame_.keep(value);
    } else if (key_ == "lane") {
      vehicle_.lane = frame_.keep(value);
    } else if (number_of_key() != nullptr) {
      return wrong(fmt::format("'{}'", value.substr(0, 40)));
    }
  } else if (where() == In::kSample && key_ == "time_s") {
    return wrong(fmt::format("'{}'", value.substr(0, 40)));
  }
  return true;
}

bool ChunkHandler::wrong(const std::string& found) {
  const bool matters = (where() == In::kVehicle && number_of_key() != nullptr) ||
                       (where() == In::kVehicle && (key_ == "type" || key_ == "lane")) ||
                       (where() == In::kSample && key_ == "time_s");
  if (!matters) return true;
  sound_ = false;
  problems_.report(file_, bytes_.line(),
                   fmt::format("{} is {}, expected a {}", key_, found,
                               key_ == "type" || key_ == "lane" ? "text" : "number"));
  return true;
}

bool ChunkHandler::start_object(std::size_t) {
  if (path_.empty()) return enter(In::kChunk);
  if (where() == In::kSamples) {
    frame_.clear();
    frame_.line = bytes_.line();
    has_time_ = false;
    return enter(In::kSample);
  }
  if (where() == In::kVehicles) {
    vehicle_ = {};
    vehicle_.line = bytes_.line();
    angle_deg_ = lane_index_ = kUnknown;
    sound_ = true;
    return enter(In::kVehicle);
  }
  return enter(In::kOther);
}

bool ChunkHandler::start_array(std::size_t) {
  if (where() == In::kChunk && key_ == "samples") return enter(In::kSamples);
  if (where() == In::kSample && key_ == "vehicles") return enter(In::kVehicles);
  return enter(In::kOther);
}

bool ChunkHandler::end_array() {
  path_.pop_back();
  return true;
}

void ChunkHandler::finish_vehicle() {
  ++vehicles_;
  if (!sound_) return;
  for (const auto& [name, there] :
       {std::pair{"id", vehicle_.name.size > 0},
        std::pair{"speed_mps", !std::isnan(vehicle_.speed_mps)},
        std::pair{"x_m and y_m", (!std::isnan(vehicle_.x_m) && !std::isnan(vehicle_.y_m)) ||
                                     !std::isnan(vehicle_.lane_pos_m)}}) {
    if (there) continue;
    problems_.report(file_, vehicle_.line,
                     fmt::format("vehicle '{}' has no {}", frame_.view(vehicle_.name), name));
    return;
  }
  if (!std::isnan(angle_deg_)) {
    const double radians = angle_deg_ * (3.14159265358979323846 / 180);
    vehicle_.heading_x = std::sin(radians);
    vehicle_.heading_y = std::cos(radians);
  }
  if (!std::isnan(lane_index_)) vehicle_.lane_index = static_cast<int>(lane_index_);
  frame_.vehicles.push_back(vehicle_);
}

bool ChunkHandler::end_object() {
  const In ended = where();
  path_.pop_back();
  if (ended == In::kVehicle) finish_vehicle();
  if (ended != In::kSample) return true;
  ++samples_;
  if (!has_time_) {
    problems_.report(file_, frame_.line, "the sample has no time_s");
    return true;
  }
  stopped_ = !sink_(frame_);
  return !stopped_;
}

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
      throw DataError("{}: there is no such file; a folder of chunks has one that lists them",
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

  /// The counts that were written with the chunks show whether some of them are lost.
  void compare(std::int64_t samples, std::int64_t vehicles) {
    const auto expected = read_small_json(statistics_);
    for (const auto& [name, found] :
         {std::pair{"samples", samples}, std::pair{"vehicles", vehicles}}) {
      if (!expected.is_object() || !expected.contains(name)) continue;
      const auto& count = expected[name];
      if (count.is_number_integer() && count.get<std::int64_t>() == found) continue;
      problems_.report(statistics_.string(), 0,
                       fmt::format("says {} {}, the chunks have {}; some are lost or changed",
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
