// Reads a whole text file, plain or compressed by gzip.
#include "traffic/scene/text_file.h"

#include <zlib.h>

#include <memory>

#include "traffic/core/error.h"

namespace traffic::scene {

std::string read_text_file(const std::filesystem::path& path, std::string_view what) {
  const std::unique_ptr<gzFile_s, int (*)(gzFile)> file(gzopen(path.c_str(), "rb"), gzclose);
  if (!file) throw DataError("{} {}: cannot be opened", what, path.string());
  std::string text;
  char buffer[1 << 16];
  int n = 0;
  while ((n = gzread(file.get(), buffer, sizeof buffer)) > 0)
    text.append(buffer, static_cast<std::size_t>(n));
  if (n < 0) {
    int code = 0;
    throw DataError("{} {}: {}", what, path.string(), gzerror(file.get(), &code));
  }
  return text;
}

}  // namespace traffic::scene
