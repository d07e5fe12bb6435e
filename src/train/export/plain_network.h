/// PlainNetwork: a network written down as a list of plain operations on named values. The same
/// list is turned into TorchScript and into ONNX, so both files compute the same.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace traffic::train {

/// A value in a network: an input, a constant, or the result of an operation.
struct PlainValue {
  std::string name;   ///< name in the ONNX graph
  std::string torch;  ///< expression in the source text of the TorchScript module
};

enum class PlainType : std::uint8_t { kFloat, kInt };

/// An input or output of a network.
struct PlainPort {
  std::string name;
  PlainType type = PlainType::kFloat;  ///< float32 or int64
  /// Size of each dimension: a number such as "26", or a name such as "options" for a size that may
  /// be different in each call.
  std::vector<std::string> shape;
};

/// An attribute of an ONNX operation.
using PlainAttribute =
    std::pair<std::string,
              std::variant<std::int64_t, float, std::string, std::vector<std::int64_t>>>;

/// An operation of ONNX, with one output.
struct PlainStep {
  std::string operation;  ///< name in ONNX, such as "Gemm"
  std::vector<std::string> inputs;
  std::string output;
  std::vector<PlainAttribute> attributes;
};

/// Builds a network operation by operation. Shapes: M, N, G are numbers of rows, F and H numbers of
/// columns. Indices are int64.
class PlainNetwork {
 public:
  PlainValue input(PlainPort port);
  /// Adds a tensor that is part of the network: float32 or int64, on the CPU.
  PlainValue constant(std::string name, const at::Tensor& value);
  /// Gives a value a name by which callers get it.
  void output(const PlainValue& value, PlainPort port);

  /// x W^T + b for x [M, F], weight [H, F] and bias [H]. @return [M, H]
  PlainValue linear(const PlainValue& x, const PlainValue& weight,
                    const PlainValue* bias = nullptr);
  // Elementwise; the second operand may have fewer rows (1) or dimensions.
  PlainValue add(const PlainValue& a, const PlainValue& b);
  PlainValue subtract(const PlainValue& a, const PlainValue& b);
  PlainValue multiply(const PlainValue& a, const PlainValue& b);
  PlainValue divide(const PlainValue& a, const PlainValue& b);
  PlainValue minimum(const PlainValue& a, const PlainValue& b);
  PlainValue maximum(const PlainValue& a, const PlainValue& b);
  PlainValue tanh(const PlainValue& x) { return unary("Tanh", "tanh", x); }
  PlainValue sigmoid(const PlainValue& x) { return unary("Sigmoid", "sigmoid", x); }
  PlainValue relu(const PlainValue& x) { return unary("Relu", "relu", x); }
  PlainValue exp(const PlainValue& x) { return unary("Exp", "exp", x); }
  PlainValue log(const PlainValue& x) { return unary("Log", "log", x); }
  PlainValue erf(const PlainValue& x) { return unary("Erf", "erf", x); }
  /// LayerNorm over the columns of x [M, F].
  PlainValue layer_norm(const PlainValue& x, const PlainValue& weight, const PlainValue& bias,
                        double epsilon);
  PlainValue softmax(const PlainValue& x);       ///< of each row
  PlainValue log_sum_exp(const PlainValue& x);   ///< of each row; [M, 1]
  PlainValue mean_of_rows(const PlainValue& x);  ///< [1, F]
  PlainValue columns(const PlainValue& x, std::int64_t first, std::int64_t count);
  PlainValue join_columns(const std::vector<PlainValue>& parts);
  /// Rows of x by their indices.
  PlainValue rows(const PlainValue& x, const PlainValue& index);
  /// Sums rows by group. Groups without rows have zeros.
  /// @param group [M] index of the group of each row
  /// @param groups [1] number of groups G
  /// @return [G, F]
  PlainValue sum_groups(const PlainValue& x, const PlainValue& group, const PlainValue& groups);
  /// Maximum of each column in each group, or -1e30 for a group without rows.
  PlainValue max_groups(const PlainValue& x, const PlainValue& group, const PlainValue& groups);
  /// Number of rows of x, [1] int64.
  PlainValue count_rows(const PlainValue& x);
  /// x without its last dimension, which has the size 1.
  PlainValue flat(const PlainValue& x);

  [[nodiscard]] std::span<const PlainPort> inputs() const { return inputs_; }
  [[nodiscard]] std::span<const PlainPort> outputs() const { return outputs_; }
  [[nodiscard]] std::span<const PlainStep> steps() const { return steps_; }
  [[nodiscard]] std::span<const std::pair<std::string, at::Tensor>> constants() const {
    return constants_;
  }
  /// The network as a TorchScript module. Its forward() takes the inputs in their order and returns
  /// a dictionary of the outputs by name.
  /// @return content of the file
  [[nodiscard]] std::string to_torchscript() const;

 private:
  PlainValue step(std::string operation, std::vector<std::string> inputs, const std::string& torch,
                  std::vector<PlainAttribute> attributes = {});
  PlainValue unary(const char* operation, const char* torch, const PlainValue& x);
  PlainValue binary(const char* operation, const char* torch, const PlainValue& a,
                    const PlainValue& b);
  /// A constant without a name of its own.
  PlainValue integers(const std::vector<std::int64_t>& values);
  PlainValue scatter(const PlainValue& x, const PlainValue& group, const PlainValue& groups,
                     float start, const char* reduction, const std::string& torch);

  std::vector<PlainPort> inputs_;
  std::vector<PlainPort> outputs_;
  std::vector<std::pair<std::string, at::Tensor>> constants_;
  std::vector<PlainStep> steps_;
  std::string source_;   ///< statements of the TorchScript function
  std::string results_;  ///< entries of the dictionary that it returns
};

/// The network as an ONNX model (opset 18).
/// @param producer version of this program, stored in the file
/// @return content of the file
std::string to_onnx(const PlainNetwork& network, const std::string& producer);

}  // namespace traffic::train
