#include "line_filter.h"

#include <fstream>
#include <string>

#include "traffic/core/atomic_file.h"

namespace traffic::report {

void keep_lines(const std::filesystem::path& path,
                const std::function<bool(std::string_view line)>& keep) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return;
  std::string kept;
  bool changed = false;
  for (std::string line; std::getline(file, line);) {
    const bool complete = !file.eof();  // getline stops at the end of the file without a newline
    if (complete && keep(line)) {
      kept += line + "\n";
    } else {
      changed = true;
    }
  }
  if (changed) write_file_atomically(path, kept);
}

}  // namespace traffic::report
