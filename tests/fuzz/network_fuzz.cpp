// Fuzz target: reads a road network in SUMO's format.
#include "memory_file.h"
#include "traffic/core/error.h"
#include "traffic/scene/road.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const traffic::fuzz::MemoryFile file(data, size);
  try {
    (void)traffic::scene::read_road(file.path());
  } catch (const traffic::Error&) {
  }
  return 0;
}
