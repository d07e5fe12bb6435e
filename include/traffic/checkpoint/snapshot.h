/// The content of a checkpoint in memory: named values. A '/' in a name separates groups, e.g.
/// "model/encoder.input.weight", "optimizer/exp_avg", "rng/rank0", "sampler/position", "config".
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

/// An ordered set of named values. A name consists of parts of letters, digits and "_.-+", joined
/// by '/'. No name may occur twice, and none may be both a value and a group; otherwise the put
/// functions throw an Error. The get functions throw a CheckpointError with the file, the name, the
/// value found and the value expected.
class Snapshot {
 public:
  /// @param step position in training; orders the checkpoints of a run and becomes part of the file
  explicit Snapshot(std::int64_t step = 0) : step_(step) {}

  [[nodiscard]] std::int64_t step() const { return step_; }
  /// Path of the file that it was loaded from, for messages; "memory" if there is none.
  [[nodiscard]] const std::string& source() const { return source_; }
  void set_source(std::string source) { source_ = std::move(source); }

  /// Refers to a CPU tensor, so that later writes to it are saved as well, and copies other
  /// tensors. The type is float32, float64, int64, int32, uint8 or bool, with at most 8 dimensions.
  void put_tensor(const std::string& name, const at::Tensor& value);
  void put_int(const std::string& name, std::int64_t value);
  void put_real(const std::string& name, double value);
  void put_text(const std::string& name, std::string value);
  void put_bytes(const std::string& name, Bytes value);
  /// Copies the tensors, so that later writes to the originals do not change this snapshot.
  void own_tensors();

  /// A file beside the checkpoint (parts.h). This rank writes it before the checkpoint unless it
  /// exists. A part is no value of the snapshot; a text value names it.
  struct Part {
    std::string name;
    std::function<Bytes()> bytes;
  };
  void add_part(Part part) { parts_.push_back(std::move(part)); }
  [[nodiscard]] const std::vector<Part>& parts() const { return parts_; }

  [[nodiscard]] bool contains(const std::string& name) const { return values_.contains(name); }
  /// Names of all values whose name starts with `prefix`, sorted.
  [[nodiscard]] std::vector<std::string> names(std::string_view prefix = "") const;
  [[nodiscard]] const std::map<std::string, Value, std::less<>>& values() const { return values_; }
  /// Bytes of all values together. The file has some kilobytes more.
  [[nodiscard]] std::int64_t total_bytes() const;

  [[nodiscard]] at::Tensor tensor(const std::string& name) const;
  /// The tensor, if it has this shape and type.
  [[nodiscard]] at::Tensor tensor(const std::string& name, at::IntArrayRef shape,
                                  at::ScalarType dtype) const;
  /// Copies the tensor into `out`. It must have the shape and type of `out`, which may be on any
  /// device.
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
