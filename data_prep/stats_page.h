/// Writes the results of data_prep stats as a single HTML page.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "traffic/data/statistics.h"

namespace traffic::data_prep {

/// Draws a histogram with block characters of eight heights: "▁▂▅█".
[[nodiscard]] std::string sparkline(const data::Histogram& histogram);

struct NamedHistogram {
  std::string title;
  const data::Histogram* histogram;
};
/// Writes the page.
/// @param tables the tables as text, as in the terminal
/// @throws ResourceError if the page cannot be written
void write_stats_page(const std::string& path, const std::vector<std::string>& tables,
                      const std::vector<NamedHistogram>& histograms);

}  // namespace traffic::data_prep
