// Sets the locale and the folder of map projections, on which libsumo depends.
#include "process_settings.h"

#include <langinfo.h>

#include <clocale>
#include <cstdlib>
#include <filesystem>
#include <string_view>

namespace traffic::sim {
namespace {

/// SUMO converts file names from UTF-8 to the encoding of the locale. In the C locale, which
/// containers, cron and SLURM use, this conversion damages names with letters beyond ASCII.
void use_utf8() {
  if (std::string_view(nl_langinfo(CODESET)) == "UTF-8") return;
  for (const char* name : {"C.UTF-8", "C.utf8", "en_US.UTF-8"}) {
    if (std::setlocale(LC_CTYPE, name) != nullptr) return;
  }
}

/// The map projections that SUMO uses are defined in a file (proj.db) that it does not find by
/// itself.
void name_projection_data() {
  const char* names[] = {"PROJ_DATA", "PROJ_LIB"};
  for (const char* name : names) {
    if (std::getenv(name) != nullptr) return;
  }
  std::error_code ignored;
  if (!std::filesystem::exists(std::filesystem::path(TRAFFIC_PROJ_DIR) / "proj.db", ignored))
    return;
  for (const char* name : names) setenv(name, TRAFFIC_PROJ_DIR, /*overwrite=*/0);
}

}  // namespace

void prepare_process() {
  use_utf8();
  name_projection_data();
}

}  // namespace traffic::sim
