/// The figures of data_prep stats as one HTML page without other files.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "traffic/data/statistics.h"

namespace traffic::data_prep {

/// The parts as eight heights of block characters: "▁▂▅█".
[[nodiscard]] std::string sparkline(const data::Histogram& histogram);

struct NamedHistogram {
  std::string title;
  const data::Histogram* histogram;
};
/// @param tables their text is shown as it is in the terminal
/// @throws ResourceError if the page cannot be written
void write_stats_page(const std::string& path, const std::vector<std::string>& tables,
                      const std::vector<NamedHistogram>& histograms);

}  // namespace traffic::data_prep
