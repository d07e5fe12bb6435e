#include "stats_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "traffic/core/atomic_file.h"

namespace traffic::data_prep {
namespace {

constexpr const char* kHead = R"(<!doctype html><meta charset="utf-8"><title>data set</title><style>
body{font:14px/1.45 system-ui,sans-serif;max-width:1240px;margin:2em auto;padding:0 1em;color:#222;background:#fff}
pre{overflow-x:auto}figure{display:inline-block;width:280px;margin:0 14px 14px 0;vertical-align:top}
figcaption{font-weight:600}svg{width:280px;height:120px}rect{fill:#4a7fb5}svg text{font-size:10px;fill:#666}
@media(prefers-color-scheme:dark){body{color:#ddd;background:#181818}svg text{fill:#aaa}}</style>
)";

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '&') {
      out += "&amp;";
    } else if (c == '<') {
      out += "&lt;";
    } else {
      out += c;
    }
  }
  return out;
}

std::int64_t largest_count(const data::Histogram& histogram) {
  return std::max<std::int64_t>(
      1, *std::max_element(histogram.counts.begin(), histogram.counts.end()));
}

std::string bars(const data::Histogram& histogram) {
  constexpr double kWidth = 280;
  constexpr double kHeight = 100;
  const double step = kWidth / static_cast<double>(histogram.counts.size());
  const auto most = static_cast<double>(largest_count(histogram));
  std::string svg = "<svg viewBox=\"0 0 280 120\">";
  for (std::size_t i = 0; i < histogram.counts.size(); ++i) {
    const double height = kHeight * static_cast<double>(histogram.counts[i]) / most;
    svg += fmt::format(
        "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" "
        "height=\"{:.1f}\"><title>{}</title></rect>",
        static_cast<double>(i) * step, kHeight - height, step - 1, height, histogram.counts[i]);
  }
  return svg + fmt::format(
                   "<text x=\"0\" y=\"114\">{:.4g}</text>"
                   "<text x=\"280\" y=\"114\" text-anchor=\"end\">{:.4g}</text></svg>",
                   histogram.low, histogram.high);
}

}  // namespace

std::string sparkline(const data::Histogram& histogram) {
  constexpr std::array<const char*, 8> kBlocks{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  const std::int64_t most = largest_count(histogram);
  std::string line;
  for (const std::int64_t count : histogram.counts) {
    // A bin with a value has at least the lowest block. An empty bin has none.
    line += count == 0 ? " " : kBlocks[static_cast<std::size_t>(count * 7 / most)];
  }
  return line;
}

void write_stats_page(const std::string& path, const std::vector<std::string>& tables,
                      const std::vector<NamedHistogram>& histograms) {
  std::string page = kHead;
  for (const auto& table : tables) page += "<pre>" + escaped(table) + "</pre>\n";
  for (const auto& one : histograms) {
    page += fmt::format("<figure><figcaption>{}</figcaption>{}</figure>\n", escaped(one.title),
                        bars(*one.histogram));
  }
  write_file_atomically(path, page);
}

}  // namespace traffic::data_prep
