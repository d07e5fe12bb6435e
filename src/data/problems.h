/// Problems collects messages about defects of data sets, for the functions that check files.
#pragma once

#include <string>
#include <vector>

#include "traffic/core/error.h"

namespace traffic::data {

/// Keeps the first kMost messages, and counts the messages after them.
class Problems {
 public:
  void add(std::string text) {
    if (found_.size() < kMost) {
      found_.push_back(std::move(text));
    } else {
      ++others_;
    }
  }
  [[nodiscard]] bool any() const { return !found_.empty(); }
  [[nodiscard]] std::vector<std::string> take() {
    if (others_ > 0) found_.push_back(fmt::format("... and {} more", others_));
    return std::move(found_);
  }

 private:
  static constexpr std::size_t kMost = 20;
  std::vector<std::string> found_;
  std::size_t others_ = 0;
};

}  // namespace traffic::data
