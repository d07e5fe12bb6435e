// Writes a network as an ONNX model. ONNX files are protocol buffers
// (https://github.com/onnx/onnx/blob/main/onnx/onnx.proto); this file encodes the few messages that
// it needs by itself.
#include <cstdint>
#include <cstring>

#include "export/plain_network.h"
#include "traffic/core/error.h"

namespace traffic::train {
namespace {

constexpr std::int64_t kIrVersion = 8;
constexpr std::int64_t kOpset = 18;
// Values of TensorProto.DataType.
constexpr std::int64_t kFloatType = 1;
constexpr std::int64_t kInt64Type = 7;

/// A protocol buffer message. Field numbers are those of onnx.proto.
class Message {
 public:
  Message& number(int field, std::int64_t value) {
    varint(static_cast<std::uint64_t>(field) << 3U);
    varint(static_cast<std::uint64_t>(value));
    return *this;
  }
  Message& real(int field, float value) {
    constexpr std::uint64_t kFourBytes = 5;
    varint(static_cast<std::uint64_t>(field) << 3U | kFourBytes);
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
    return *this;
  }
  Message& text(int field, std::string_view value) {
    constexpr std::uint64_t kLengthAndBytes = 2;
    varint(static_cast<std::uint64_t>(field) << 3U | kLengthAndBytes);
    varint(value.size());
    bytes_.append(value);
    return *this;
  }
  Message& message(int field, const Message& value) { return text(field, value.bytes_); }
  [[nodiscard]] std::string take() { return std::move(bytes_); }

 private:
  void varint(std::uint64_t value) {
    constexpr std::uint64_t kMore = 0x80;
    for (; value >= kMore; value >>= 7U) bytes_.push_back(static_cast<char>(value | kMore));
    bytes_.push_back(static_cast<char>(value));
  }
  std::string bytes_;
};

Message attribute(const PlainAttribute& from) {
  Message to;
  to.text(1, from.first);
  constexpr int kTypeField = 20;
  if (const auto* integer = std::get_if<std::int64_t>(&from.second)) {
    to.number(3, *integer).number(kTypeField, 2);
  } else if (const auto* real = std::get_if<float>(&from.second)) {
    to.real(2, *real).number(kTypeField, 1);
  } else if (const auto* text = std::get_if<std::string>(&from.second)) {
    to.text(4, *text).number(kTypeField, 3);
  } else {
    for (const std::int64_t one : std::get<std::vector<std::int64_t>>(from.second))
      to.number(8, one);
    to.number(kTypeField, 7);
  }
  return to;
}

Message node(const PlainStep& step) {
  Message to;
  for (const std::string& input : step.inputs) to.text(1, input);
  to.text(2, step.output).text(3, step.output).text(4, step.operation);
  for (const PlainAttribute& one : step.attributes) to.message(5, attribute(one));
  return to;
}

Message initializer(const std::string& name, const at::Tensor& value) {
  Message to;
  for (const std::int64_t size : value.sizes()) to.number(1, size);
  to.number(2, value.scalar_type() == at::kFloat ? kFloatType : kInt64Type);
  to.text(8, name);
  to.text(9, {static_cast<const char*>(value.const_data_ptr()), value.nbytes()});
  return to;
}

Message port(const PlainPort& from) {
  Message shape;
  for (const std::string& size : from.shape) {
    Message dimension;
    if (size.find_first_not_of("0123456789") == std::string::npos) {
      dimension.number(1, std::stoll(size));
    } else {
      dimension.text(2, size);
    }
    shape.message(1, dimension);
  }
  Message tensor;
  tensor.number(1, from.type == PlainType::kFloat ? kFloatType : kInt64Type).message(2, shape);
  Message type;
  type.message(1, tensor);
  Message to;
  to.text(1, from.name).message(2, type);
  return to;
}

}  // namespace

std::string to_onnx(const PlainNetwork& network, const std::string& producer) {
  Message graph;
  for (const PlainStep& step : network.steps()) graph.message(1, node(step));
  graph.text(2, "traffic_policy");
  for (const auto& [name, value] : network.constants()) graph.message(5, initializer(name, value));
  for (const PlainPort& one : network.inputs()) graph.message(11, port(one));
  for (const PlainPort& one : network.outputs()) graph.message(12, port(one));
  Message opset;
  opset.text(1, "").number(2, kOpset);
  Message model;
  model.number(1, kIrVersion).text(2, "traffic_train").text(3, producer);
  model.message(7, graph).message(8, opset);
  return model.take();
}

}  // namespace traffic::train
