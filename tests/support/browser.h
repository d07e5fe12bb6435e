/// Opens a page in a headless browser, to check what a reader would see.
#pragma once

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "support/run_program.h"

namespace traffic::test {

/// JavaScript that look_at() appends to a page. It logs layout problems and empty pictures on the
/// console, and puts the number of pictures into the title.
inline constexpr const char* kLook =
    R"(<script>addEventListener('load', () => setTimeout(() => {
  for (const group of document.querySelectorAll('details')) group.open = true;
  const page = document.documentElement;
  if (page.scrollWidth > innerWidth) console.error(`${page.scrollWidth} wide in ${innerWidth}`);
  const boxes = [...document.querySelectorAll('.card, figure, .view')].map((one) => one.getBoundingClientRect());
  boxes.forEach((a, i) => boxes.slice(i + 1).forEach((b) => {
    const across = Math.min(a.right, b.right) - Math.max(a.left, b.left);
    const along = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
    if (across > 1 && along > 1) console.error('overlap', JSON.stringify(a), JSON.stringify(b));
  }));
  for (const canvas of document.querySelectorAll('#pictures canvas, .view canvas')) {
    const pixels = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
    if (!pixels.some((value) => value)) console.error('an empty picture');
  }
  document.title = `${document.querySelectorAll('canvas').length} pictures`;
}, 100));
</script>)";

/// How the browser shows the page, and where the screenshot goes.
struct Glance {
  std::string name;   ///< file name of the screenshot, without extension
  std::string size;   ///< width and height of the window in pixels: "1280,700"
  bool dark = false;  ///< whether the browser prefers dark colours
};

/// Opens a copy of the page in the browser and saves a screenshot as screenshots/NAME.png in the
/// build folder. @return the messages on the console, one per line, and "N pictures" at the end
/// @param scratch a folder for the browser's own files
inline std::string look_at(const std::filesystem::path& page, const Glance& glance,
                           const std::filesystem::path& scratch) {
  namespace fs = std::filesystem;
  const fs::path looked_at = page.parent_path() / ("looked-at-" + page.filename().string());
  std::ofstream(looked_at) << std::ifstream(page).rdbuf() << kLook;
  const fs::path pictures = fs::path(TRAFFIC_BIN_DIR).parent_path() / "screenshots";
  fs::create_directories(pictures);
  const std::string picture = (pictures / (glance.name + ".png")).string();
  fs::remove(picture);
  const std::string options =
      std::string("--no-sandbox --disable-gpu --hide-scrollbars ") +
      "--enable-logging=stderr --virtual-time-budget=2000 " +
      "--user-data-dir=" + (scratch / "browser").string() +
      " --blink-settings=preferredColorScheme=" + (glance.dark ? "0" : "1") +
      " --window-size=" + glance.size;
  const std::string url = " 'file://" + looked_at.string() + "'";
  const Outcome shot =
      run_program("chromium-headless-shell " + options + " --screenshot=" + picture + url);
  EXPECT_EQ(shot.exit_code, 0) << "if it is not installed, run launch/setup.sh --tests\n"
                               << shot.output;
  EXPECT_TRUE(fs::exists(picture));
  const Outcome dump = run_program("chromium-headless-shell " + options + " --dump-dom" + url);
  std::string said;
  std::istringstream lines(shot.output + dump.output);
  for (std::string line; std::getline(lines, line);) {
    if (line.find(":CONSOLE:") != std::string::npos) said += line + "\n";
  }
  const auto title = dump.output.find("<title>") + 7;
  return said + dump.output.substr(title, dump.output.find("</title>") - title);
}

}  // namespace traffic::test
