/// Snapshot: the content of a checkpoint in memory, a set of named values. The training fills it
/// before a checkpoint is saved, and reads from it when a run resumes. A '/' in a name separates
/// groups, e.g. "model/encoder.input.weight", "optimizer/exp_avg", "rng/rank0", "config".
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace traffic::checkpoint {

using Bytes = std::vector<std::byte>;
using Value = std::variant<at::Tensor, std::int64_t, double, std::string, Bytes>;

/// A set of named values, sorted by name. A name consists of words joined by '/'; a word contains
/// letters, digits and "_.-+". The put functions throw an Error if a name occurs twice, or if it is
/// the name of both a value and a group. The functions that return values throw a CheckpointError
/// with the file, the name, the value found and the value expected.
class Snapshot {
 public:
  /// @param step position in training; orders the checkpoints of a run and becomes part of the file
  explicit Snapshot(std::int64_t step = 0) : step_(step) {}

  [[nodiscard]] std::int64_t step() const { return step_; }
  /// Path of the file that the snapshot was loaded from, for messages. "memory" for a snapshot that
  /// was not loaded.
  [[nodiscard]] const std::string& source() const { return source_; }
  void set_source(std::string source) { source_ = std::move(source); }

  /// Adds a tensor of type float32, float64, int64, int32, uint8 or bool with at most 8 dimensions.
  /// The snapshot shares the memory of a contiguous CPU tensor, so later writes to the tensor
  /// change the snapshot. It copies other tensors.
  void put_tensor(const std::string& name, const at::Tensor& value);
  void put_int(const std::string& name, std::int64_t value);
  void put_real(const std::string& name, double value);
  void put_text(const std::string& name, std::string value);
  void put_bytes(const std::string& name, Bytes value);
  /// Copies all tensors, so that later writes to the originals do not change this snapshot.
  void own_tensors();

  /// A part file of the checkpoint (parts.h), which this rank must write before the checkpoint. Its
  /// content is not a value of the snapshot; a text value contains its name.
  struct Part {
    std::string name;
    std::function<Bytes()> bytes;  ///< returns the content; called only if the file does not exist
  };
  void add_part(Part part) { parts_.push_back(std::move(part)); }
  [[nodiscard]] const std::vector<Part>& parts() const { return parts_; }

  [[nodiscard]] bool contains(const std::string& name) const { return values_.contains(name); }
  /// Names of all values whose name starts with `prefix`, sorted.
  [[nodiscard]] std::vector<std::string> names(std::string_view prefix = "") const;
  [[nodiscard]] const std::map<std::string, Value, std::less<>>& values() const { return values_; }
  /// Size of all values in bytes. The file is some kilobytes larger.
  [[nodiscard]] std::int64_t total_bytes() const;

  [[nodiscard]] at::Tensor tensor(const std::string& name) const;
  /// The tensor. Throws if it has another shape or type.
  [[nodiscard]] at::Tensor tensor(const std::string& name, at::IntArrayRef shape,
                                  at::ScalarType dtype) const;
  /// Copies the tensor into `out`, which may be on any device. Throws if shape or type differ.
  void copy_tensor(const std::string& name, const at::Tensor& out) const;
  [[nodiscard]] std::int64_t integer(const std::string& name) const;
  [[nodiscard]] double real(const std::string& name) const;
  [[nodiscard]] const std::string& text(const std::string& name) const;
  [[nodiscard]] const Bytes& bytes(const std::string& name) const;

 private:
  void put(const std::string& name, Value value);
  [[nodiscard]] const Value& value(const std::string& name) const;
  template <typename T>
  [[nodiscard]] const T& typed(const std::string& name, const char* expected) const;

  std::int64_t step_;
  std::string source_ = "memory";
  std::map<std::string, Value, std::less<>> values_;
  std::vector<Part> parts_;
};

}  // namespace traffic::checkpoint
