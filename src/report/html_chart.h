/// A line chart as SVG text for report.html.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace traffic::report {

struct ChartPoint {
  double x = 0.0;
  double y = 0.0;  ///< not finite: a gap
};

struct ChartLine {
  std::string label;
  std::vector<ChartPoint> points;  ///< x ascending
};

/// A figure of the title and one SVG; the scale spans all finite points.
std::string html_chart(std::string_view title, const std::vector<ChartLine>& lines);

}  // namespace traffic::report
