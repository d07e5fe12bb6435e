// Writes the weights of a model to a file in the safetensors format.
#include "traffic/checkpoint/safetensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>
#include <vector>

#include "traffic/core/atomic_file.h"
#include "traffic/core/error.h"

namespace traffic::checkpoint {
namespace {

const char* dtype_name(at::ScalarType dtype) {
  switch (dtype) {
    case at::kFloat:
      return "F32";
    case at::kDouble:
      return "F64";
    case at::kHalf:
      return "F16";
    case at::kBFloat16:
      return "BF16";
    case at::kLong:
      return "I64";
    case at::kInt:
      return "I32";
    case at::kByte:
      return "U8";
    case at::kBool:
      return "BOOL";
    default:
      throw Error(fmt::format("safetensors export of {} is not possible", c10::toString(dtype)));
  }
}

/// Sorts tensors by the size of their elements, the largest first. The format allows no gaps
/// between tensors; in this order every tensor still starts at a multiple of its element size.
NamedTensors aligned_order(NamedTensors tensors) {
  std::stable_sort(tensors.begin(), tensors.end(), [](const auto& a, const auto& b) {
    return a.second.element_size() > b.second.element_size();
  });
  return tensors;
}

}  // namespace

void export_safetensors(const std::filesystem::path& path, const NamedTensors& tensors,
                        const TextMap& metadata) {
  nlohmann::ordered_json header;
  if (!metadata.empty()) header["__metadata__"] = metadata;
  const NamedTensors ordered = aligned_order(tensors);
  std::size_t end = 0;
  for (const auto& [name, tensor] : ordered) {
    TRAFFIC_CHECK(!header.contains(name), "tensor '{}' is exported twice", name);
    const std::size_t begin = end;
    end += tensor.nbytes();
    header[name] = {{"dtype", dtype_name(tensor.scalar_type())},
                    {"shape", tensor.sizes().vec()},
                    {"data_offsets", {begin, end}}};
  }
  std::string text = header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');  // so that the data start at a multiple of 8 bytes
  const std::uint64_t text_bytes = text.size();

  std::vector<std::byte> file(sizeof(text_bytes) + text.size() + end);
  std::memcpy(file.data(), &text_bytes, sizeof(text_bytes));
  std::memcpy(file.data() + sizeof(text_bytes), text.data(), text.size());
  std::byte* out = file.data() + sizeof(text_bytes) + text.size();
  for (const auto& [name, tensor] : ordered) {
    const at::Tensor stored = tensor.detach().to(at::kCPU).contiguous();
    if (stored.nbytes() > 0) std::memcpy(out, stored.const_data_ptr(), stored.nbytes());
    out += stored.nbytes();
  }
  write_file_atomically(path, file);
}

}  // namespace traffic::checkpoint
