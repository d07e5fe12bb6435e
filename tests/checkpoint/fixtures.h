/// Helpers of the checkpoint tests: a temporary folder, a small snapshot, raw access to files.
#pragma once

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "traffic/checkpoint/snapshot.h"

namespace traffic::checkpoint {

class FolderTest : public ::testing::Test {
 protected:
  FolderTest() {
    at::set_num_threads(1);  // children of fork() could not use OpenMP's threads
    std::string pattern =
        (std::filesystem::temp_directory_path() / "checkpoint-test-XXXXXX").string();
    dir_ = mkdtemp(pattern.data());
  }
  ~FolderTest() override { std::filesystem::remove_all(dir_); }

  std::filesystem::path dir_;
};

/// A snapshot with a value of every kind, about `num_values` * 4 bytes. The values depend on the
/// step.
inline Snapshot small_snapshot(std::int64_t step, std::int64_t num_values = 1000) {
  Snapshot snapshot(step);
  snapshot.put_tensor("model/encoder.input.weight",
                      at::arange(num_values, at::kFloat).mul_(0.5).add_(static_cast<double>(step)));
  snapshot.put_tensor("model/matrix", at::arange(12, at::kDouble).reshape({3, 4}));
  snapshot.put_tensor("optimizer/mask", at::arange(7, at::kLong).remainder(2).to(at::kBool));
  snapshot.put_tensor("rng/rank0", at::arange(48, at::kByte));
  snapshot.put_tensor("sampler/order", at::arange(9, at::kInt));
  snapshot.put_tensor("sampler/empty", at::empty({0, 4}));
  snapshot.put_int("meta/step", step);
  snapshot.put_real("meta/best", 0.1);
  snapshot.put_text("config", "[run]\nname = \"strasse\"\n");
  snapshot.put_text("empty_text", "");
  snapshot.put_bytes("rng/rollout", Bytes{std::byte{0}, std::byte{255}, std::byte{7}});
  return snapshot;
}

inline std::vector<char> read_bytes(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

inline void write_bytes(const std::filesystem::path& path, const std::vector<char>& bytes) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

/// Whether two snapshots hold the same names, kinds and bits.
inline ::testing::AssertionResult same_bits(const Snapshot& a, const Snapshot& b) {
  if (a.step() != b.step()) return ::testing::AssertionFailure() << "steps differ";
  if (a.names() != b.names()) return ::testing::AssertionFailure() << "names differ";
  for (const auto& [name, value] : a.values()) {
    const Value& other = b.values().at(name);
    if (value.index() != other.index()) {
      return ::testing::AssertionFailure() << name << ": kinds differ";
    }
    if (const auto* tensor = std::get_if<at::Tensor>(&value)) {
      const auto& second = std::get<at::Tensor>(other);
      if (tensor->scalar_type() != second.scalar_type() || tensor->sizes() != second.sizes() ||
          (tensor->numel() > 0 &&
           std::memcmp(tensor->const_data_ptr(), second.const_data_ptr(), tensor->nbytes()) != 0)) {
        return ::testing::AssertionFailure() << name << ": tensors differ";
      }
    } else if (const auto* real = std::get_if<double>(&value)) {
      if (std::memcmp(real, &std::get<double>(other), sizeof(double)) != 0) {
        return ::testing::AssertionFailure() << name << ": reals differ";
      }
    } else if (const auto* integer = std::get_if<std::int64_t>(&value)) {
      if (*integer != std::get<std::int64_t>(other)) {
        return ::testing::AssertionFailure() << name << ": integers differ";
      }
    } else if (const auto* text = std::get_if<std::string>(&value)) {
      if (*text != std::get<std::string>(other)) {
        return ::testing::AssertionFailure() << name << ": texts differ";
      }
    } else if (std::get<Bytes>(value) != std::get<Bytes>(other)) {
      return ::testing::AssertionFailure() << name << ": bytes differ";
    }
  }
  return ::testing::AssertionSuccess();
}

}  // namespace traffic::checkpoint
