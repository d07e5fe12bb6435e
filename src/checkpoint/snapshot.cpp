// Snapshot: the named values of a checkpoint in memory (snapshot.h).
#include "traffic/checkpoint/snapshot.h"

#include <ATen/Functions.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "dtype.h"
#include "names.h"
#include "traffic/core/error.h"

namespace traffic::checkpoint {
namespace {

std::string describe(const at::Tensor& tensor) {
  return fmt::format("a {} tensor of shape [{}]", c10::toString(tensor.scalar_type()),
                     fmt::join(tensor.sizes(), ", "));
}

std::string describe(const Value& value) {
  struct Visitor {
    std::string operator()(const at::Tensor& tensor) const { return describe(tensor); }
    std::string operator()(std::int64_t) const { return "an integer"; }
    std::string operator()(double) const { return "a real number"; }
    std::string operator()(const std::string&) const { return "a text"; }
    std::string operator()(const Bytes&) const { return "raw bytes"; }
  };
  return std::visit(Visitor{}, value);
}

constexpr const char* kRemedy =
    "use a checkpoint of the same program version, phase and [model] settings";

}  // namespace

void Snapshot::put(const std::string& name, Value value) {
  check_name(name);
  for (auto slash = name.find('/'); slash != std::string::npos; slash = name.find('/', slash + 1)) {
    TRAFFIC_CHECK(!values_.contains(name.substr(0, slash)),
                  "checkpoint value '{}' would lie inside the value '{}'", name,
                  name.substr(0, slash));
  }
  const auto inside = values_.lower_bound(name + "/");
  TRAFFIC_CHECK(inside == values_.end() || !inside->first.starts_with(name + "/"),
                "checkpoint value '{}' has the name of a group, which contains '{}'", name,
                inside->first);
  const bool added = values_.emplace(name, std::move(value)).second;
  TRAFFIC_CHECK(added, "checkpoint value '{}' was added twice", name);
}

void Snapshot::put_tensor(const std::string& name, const at::Tensor& value) {
  TRAFFIC_CHECK(value.defined(), "checkpoint value '{}' is an undefined tensor", name);
  TRAFFIC_CHECK(is_supported(value.scalar_type()) && value.dim() <= kMaxDims,
                "checkpoint value '{}' is {}, which the format cannot store", name,
                describe(value));
  const at::Tensor stored = value.detach().to(at::kCPU).contiguous();
  // Stores a tensor without dimensions as a number, because HDF5 does not distinguish them.
  if (stored.dim() == 0 && stored.scalar_type() == at::kLong) {
    put(name, stored.item<std::int64_t>());
  } else if (stored.dim() == 0 && stored.scalar_type() == at::kDouble) {
    put(name, stored.item<double>());
  } else {
    put(name, stored);
  }
}

void Snapshot::own_tensors() {
  for (auto& [name, value] : values_) {
    if (auto* tensor = std::get_if<at::Tensor>(&value)) *tensor = tensor->clone();
  }
}

void Snapshot::put_int(const std::string& name, std::int64_t value) { put(name, value); }
void Snapshot::put_real(const std::string& name, double value) { put(name, value); }
void Snapshot::put_text(const std::string& name, std::string value) { put(name, std::move(value)); }
void Snapshot::put_bytes(const std::string& name, Bytes value) { put(name, std::move(value)); }

std::vector<std::string> Snapshot::names(std::string_view prefix) const {
  std::vector<std::string> found;
  for (auto it = values_.lower_bound(prefix); it != values_.end() && it->first.starts_with(prefix);
       ++it) {
    found.push_back(it->first);
  }
  return found;
}

std::int64_t Snapshot::total_bytes() const {
  struct Visitor {
    std::size_t operator()(const at::Tensor& tensor) const { return tensor.nbytes(); }
    std::size_t operator()(std::int64_t) const { return sizeof(std::int64_t); }
    std::size_t operator()(double) const { return sizeof(double); }
    std::size_t operator()(const std::string& text) const { return text.size() + 1; }
    std::size_t operator()(const Bytes& bytes) const { return bytes.size(); }
  };
  std::size_t total = 0;
  for (const auto& [name, value] : values_) total += std::visit(Visitor{}, value);
  return static_cast<std::int64_t>(total);
}

const Value& Snapshot::value(const std::string& name) const {
  const auto it = values_.find(name);
  if (it == values_.end()) {
    throw CheckpointError("checkpoint {}: '{}' is missing, {} other values exist; {}", source_,
                          name, values_.size(), kRemedy);
  }
  return it->second;
}

template <typename T>
const T& Snapshot::typed(const std::string& name, const char* expected) const {
  const Value& found = value(name);
  const T* typed_value = std::get_if<T>(&found);
  if (typed_value == nullptr) {
    throw CheckpointError("checkpoint {}: '{}' is {}, expected: {}; {}", source_, name,
                          describe(found), expected, kRemedy);
  }
  return *typed_value;
}

at::Tensor Snapshot::tensor(const std::string& name) const {
  const Value& found = value(name);
  if (const auto* number = std::get_if<std::int64_t>(&found)) {
    return at::full({}, *number, at::kLong);
  }
  if (const auto* number = std::get_if<double>(&found)) return at::full({}, *number, at::kDouble);
  return typed<at::Tensor>(name, "a tensor");
}

at::Tensor Snapshot::tensor(const std::string& name, at::IntArrayRef shape,
                            at::ScalarType dtype) const {
  at::Tensor found = tensor(name);
  if (found.sizes() != shape || found.scalar_type() != dtype) {
    throw CheckpointError("checkpoint {}: '{}' is {}, expected: {} [{}]; {}", source_, name,
                          describe(found), c10::toString(dtype), fmt::join(shape, ", "), kRemedy);
  }
  return found;
}

void Snapshot::copy_tensor(const std::string& name, const at::Tensor& out) const {
  out.detach().copy_(tensor(name, out.sizes(), out.scalar_type()));
}

std::int64_t Snapshot::integer(const std::string& name) const {
  return typed<std::int64_t>(name, "an integer");
}
double Snapshot::real(const std::string& name) const {
  return typed<double>(name, "a real number");
}
const std::string& Snapshot::text(const std::string& name) const {
  return typed<std::string>(name, "a text");
}
const Bytes& Snapshot::bytes(const std::string& name) const {
  return typed<Bytes>(name, "raw bytes");
}

}  // namespace traffic::checkpoint
