/// Parses a chunk: a JSON file with recorded traffic. The parser works while the file is being
/// read, so that the file need not fit into memory. The reader in json_chunks.cpp uses it.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "formats.h"

namespace traffic::data_prep {

/// Gives the bytes of an input to the JSON library one at a time, and counts lines.
class CountedBytes {
 public:
  explicit CountedBytes(TextInput& input) : input_(input), buffer_(kReadBytes, '\0') {}
  /// @return the next byte; -1 at the end
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
  static constexpr std::size_t kReadBytes = 1 << 16;
  std::string buffer_;
  std::size_t at_ = 0;
  std::size_t filled_ = 0;
  std::int64_t line_ = 1;
};

/// An input iterator over CountedBytes for nlohmann::json.
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

/// Receives the events of the JSON parser for a chunk of the form
/// {"samples": [{"time_s": .., "vehicles": [{..}, ..]}, ..]}. Gives each sample to the sink as a
/// frame.
class ChunkHandler : public nlohmann::json_sax<nlohmann::json> {
 public:
  ChunkHandler(const std::string& file, const CountedBytes& bytes, InputProblems& problems,
               const FrameSink& sink)
      : file_(file), bytes_(bytes), problems_(problems), sink_(sink), frame_(), vehicle_() {}

  bool null() override { return true; }
  bool boolean(bool) override { return scalar("true or false"); }
  bool number_integer(number_integer_t value) override {
    return number(static_cast<double>(value), fmt::format("{}", value));
  }
  bool number_unsigned(number_unsigned_t value) override {
    return number(static_cast<double>(value), fmt::format("{}", value));
  }
  bool number_float(number_float_t value, const string_t& text) override {
    return number(value, text);
  }
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
                     fmt::format("the JSON is not well-formed here ({}); the rest of the chunk "
                                 "cannot be read",
                                 e.what()));
    return false;
  }

  [[nodiscard]] bool stopped() const { return stopped_; }
  [[nodiscard]] std::int64_t samples() const { return samples_; }
  [[nodiscard]] std::int64_t vehicles() const { return vehicles_; }

 private:
  enum class In { kChunk, kSamples, kSample, kVehicles, kVehicle, kOther };

  [[nodiscard]] In where() const { return path_.empty() ? In::kOther : path_.back(); }
  bool enter(In place);
  bool number(double value, const std::string& text);
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
  bool has_time_ = false;  ///< whether the present sample has a time
  bool sound_ = true;      ///< false after an error was found in the present vehicle
  bool stopped_ = false;
  double angle_deg_ = kUnknown;
  double lane_index_ = kUnknown;
  std::int64_t samples_ = 0;
  std::int64_t vehicles_ = 0;
};

}  // namespace traffic::data_prep
