// Removes lines from a text file (line_filter.h).
#include "line_filter.h"

#include <cerrno>
#include <fstream>
#include <string>

#include "traffic/core/atomic_file.h"

namespace traffic::report {
namespace {

/// Calls visit(line, kept) for each line; `kept` tells whether the line stays in the file. Does not
/// read the whole file at once, because it may be larger than the memory.
template <typename Visit>
void visit_lines(const std::filesystem::path& path,
                 const std::function<bool(std::string_view line)>& keep, Visit&& visit) {
  std::ifstream file(path, std::ios::binary);
  for (std::string line; std::getline(file, line);) {
    const bool complete = !file.eof();  // getline stops at the end of the file without a newline
    visit(line, complete && keep(line));
  }
}

}  // namespace

void keep_lines(const std::filesystem::path& path,
                const std::function<bool(std::string_view line)>& keep) {
  bool changes = false;
  visit_lines(path, keep, [&](const std::string&, bool kept) { changes = changes || !kept; });
  if (!changes) return;
  AtomicFile file(path);
  std::ofstream out(file.temp_path(), std::ios::binary);
  visit_lines(path, keep, [&](const std::string& line, bool kept) {
    if (kept) out << line << '\n';
  });
  out.close();
  if (!out) throw io_error("write", file.temp_path(), errno);
  file.commit();
}

}  // namespace traffic::report
