/// Reader reads the values of a checkpoint from its HDF5 data; load() in file.h checks the hashes
/// first and then uses Reader. The reader still checks types, sizes and positions of all values,
/// because hashes protect against damage but not against a file that was made to do harm.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "h5.h"
#include "traffic/checkpoint/snapshot.h"

namespace traffic::checkpoint {

class Reader {
 public:
  /// @param fd the checked file. HDF5 opens it through this descriptor, not by its path, so that it
  ///   reads the same file even if the path has been replaced meanwhile
  /// @throws h5::CallFailed if HDF5 cannot open it
  Reader(int fd, std::filesystem::path path, std::uint64_t file_bytes);

  /// Checks the structure of the whole file, then reads the values whose names begin with `prefix`.
  /// @throws CheckpointError, h5::CallFailed
  void read_into(Snapshot& snapshot, std::string_view prefix);

 private:
  enum class Kind { kTensor, kInt, kReal, kText, kBytes };
  /// One value of the checkpoint.
  struct Part {
    std::string name;
    Kind kind = Kind::kTensor;
    at::ScalarType dtype = at::kFloat;
    std::vector<std::int64_t> shape;
    std::uint64_t bytes = 0;
  };

  void visit_group(hid_t group, const std::string& prefix, int depth);
  void visit_link(hid_t group, const std::string& link, const std::string& prefix, int depth);
  void add_part(hid_t object, const std::string& name);
  void classify(Part& part, const h5::Type& type, const h5::Space& space) const;
  void check_storage(hid_t dataset, const Part& part);
  void read_part(const Part& part, Snapshot& snapshot) const;
  [[nodiscard]] at::Tensor read_tensor(const Part& part) const;
  void read_raw(const Part& part, void* out) const;
  [[noreturn]] void refuse(const std::string& part, const std::string& found,
                           const std::string& expected) const;

  std::filesystem::path path_;
  std::uint64_t file_bytes_;
  h5::File file_;
  std::vector<Part> parts_;
  std::uint64_t total_bytes_ = 0;
  int objects_ = 0;  ///< number of HDF5 objects visited so far, which is limited
};

}  // namespace traffic::checkpoint
