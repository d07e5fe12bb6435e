// Fuzz target: reads the input as a user's configuration file, and then as the configuration in a
// checkpoint of unknown origin.
#include <string_view>

#include "traffic/config/load.h"
#include "traffic/core/error.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    (void)traffic::config::parse_plan(text, "fuzz.toml");
  } catch (const traffic::Error&) {
  }
  try {
    (void)traffic::config::parse_stored_config(text, "fuzz.h5");
    (void)traffic::config::unknown_keys(text);
  } catch (const traffic::Error&) {
  }
  return 0;
}
