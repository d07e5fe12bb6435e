/// TensorBoard event files.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

namespace traffic::report {

/// One event file: TFRecords of Event messages (tensorboard_event.proto). Not thread-safe.
class EventWriter {
 public:
  /// Opens a new file in dir, named by time and host as TensorBoard expects.
  /// @param resume_step >= 0: tells TensorBoard to forget what earlier files say of later steps
  /// @throws ResourceError
  EventWriter(const std::filesystem::path& dir, std::int64_t resume_step);

  /// @return false if the file could not be written
  bool add_scalars(std::int64_t step, const std::vector<std::pair<std::string, double>>& values);

 private:
  bool write_record(const std::string& bytes);
  std::ofstream file_;
};

}  // namespace traffic::report
