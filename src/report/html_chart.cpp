#include "html_chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>

#include "traffic/core/text.h"

namespace traffic::report {
namespace {

constexpr double kWidth = 380.0;
constexpr double kHeight = 190.0;
constexpr double kLeft = 54.0;
constexpr double kRight = 8.0;
constexpr double kTop = 8.0;
constexpr double kBottom = 20.0;
constexpr std::size_t kMostPoints = 300;  ///< of a line: more are not seen at this width
constexpr std::array<const char*, 8> kColours{"#2166ac", "#d6604d", "#1b7837", "#9970ab",
                                              "#e08214", "#35978f", "#bf812d", "#c51b7d"};

const char* colour_of(std::size_t line) { return kColours[line % kColours.size()]; }

/// Means of equal shares of the points; a gap stays one.
std::vector<ChartPoint> thinned(const std::vector<ChartPoint>& points) {
  if (points.size() <= kMostPoints) return points;
  std::vector<ChartPoint> few;
  for (std::size_t i = 0; i < kMostPoints; ++i) {
    const std::size_t first = i * points.size() / kMostPoints;
    const std::size_t end = (i + 1) * points.size() / kMostPoints;
    ChartPoint mean;
    for (std::size_t p = first; p < end; ++p) {
      mean.x += points[p].x / static_cast<double>(end - first);
      mean.y += points[p].y / static_cast<double>(end - first);
    }
    few.push_back(mean);
  }
  return few;
}

struct Range {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();

  void include(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
  /// A range of some width, also around a single value.
  void widen() {
    if (high > low) return;
    const double by = low == 0.0 ? 1.0 : std::abs(low) * 0.1;
    low -= by;
    high += by;
  }
};

/// From values to places in the picture.
struct Scale {
  Range x;
  Range y;

  [[nodiscard]] double left(double value) const {
    return kLeft + (value - x.low) / (x.high - x.low) * (kWidth - kLeft - kRight);
  }
  [[nodiscard]] double top(double value) const {
    return kTop + (y.high - value) / (y.high - y.low) * (kHeight - kTop - kBottom);
  }
};

/// Round values between the ends, about four.
std::vector<double> ticks(const Range& range) {
  const double rough = (range.high - range.low) / 4.0;
  const double power = std::pow(10.0, std::floor(std::log10(rough)));
  double step = power;
  for (const double factor : {2.0, 5.0, 10.0}) {
    if (step < rough) step = factor * power;
  }
  std::vector<double> at;
  for (double k = std::ceil(range.low / step); k * step <= range.high; k += 1.0)
    at.push_back(k * step);
  return at;
}

std::string axes(const Scale& scale) {
  std::string svg;
  const auto out = std::back_inserter(svg);
  for (const double y : ticks(scale.y)) {
    fmt::format_to(out, R"(<line class="grid" x1="{:.1f}" x2="{:.1f}" y1="{:.1f}" y2="{:.1f}"/>)",
                   kLeft, kWidth - kRight, scale.top(y), scale.top(y));
    fmt::format_to(out, R"(<text text-anchor="end" x="{:.1f}" y="{:.1f}">{:.4g}</text>)", kLeft - 4,
                   scale.top(y) + 3.5, y);
  }
  for (const double x : ticks(scale.x)) {
    fmt::format_to(out, R"(<text text-anchor="middle" x="{:.1f}" y="{:.1f}">{:.6g}</text>)",
                   scale.left(x), kHeight - 5, x);
  }
  return svg;
}

std::string drawn(const std::vector<ChartPoint>& points, const Scale& scale, const char* colour) {
  std::string svg;
  const auto out = std::back_inserter(svg);
  std::string run;
  std::size_t in_run = 0;
  const auto finish = [&] {
    // A point with gaps on both sides would be no line.
    if (in_run == 1) fmt::format_to(out, R"(<circle r="2" fill="{}" {}/>)", colour, run);
    if (in_run > 1) fmt::format_to(out, R"(<polyline stroke="{}" points="{}"/>)", colour, run);
    run.clear();
    in_run = 0;
  };
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (!std::isfinite(points[i].y)) {
      finish();
      continue;
    }
    const double left = scale.left(points[i].x);
    const double top = scale.top(points[i].y);
    const bool alone = in_run == 0 && (i + 1 == points.size() || !std::isfinite(points[i + 1].y));
    run += alone ? fmt::format(R"(cx="{:.1f}" cy="{:.1f}")", left, top)
                 : fmt::format("{:.1f},{:.1f} ", left, top);
    ++in_run;
  }
  finish();
  return svg;
}

}  // namespace

std::string html_chart(std::string_view title, const std::vector<ChartLine>& lines) {
  Scale scale;
  std::vector<std::vector<ChartPoint>> shown;
  for (const ChartLine& line : lines) {
    shown.push_back(thinned(line.points));
    for (const ChartPoint& point : shown.back()) {
      if (!std::isfinite(point.y)) continue;
      scale.x.include(point.x);
      scale.y.include(point.y);
    }
  }
  std::string html = fmt::format("<figure><figcaption>{}</figcaption>", html_escaped(title));
  if (!(scale.x.low <= scale.x.high)) return html + "<p>no values</p></figure>\n";
  scale.x.widen();
  scale.y.widen();
  html += fmt::format(R"(<svg viewBox="0 0 {} {}" role="img">)", kWidth, kHeight) + axes(scale);
  for (std::size_t i = 0; i < shown.size(); ++i) html += drawn(shown[i], scale, colour_of(i));
  html += "</svg>";
  if (lines.size() > 1) {
    html += "<p>";
    for (std::size_t i = 0; i < lines.size(); ++i) {
      html += fmt::format(R"(<span style="color:{}">&#9644; {}</span> )", colour_of(i),
                          html_escaped(lines[i].label));
    }
    html += "</p>";
  }
  return html + "</figure>\n";
}

}  // namespace traffic::report
