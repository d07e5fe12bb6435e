// Fuzz target: opens a file of recorded scenes as the training of driving policies does, then reads
// all of it.
#include "memory_file.h"
#include "traffic/core/error.h"
#include "traffic/data/scene_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const traffic::fuzz::MemoryFile file(data, size);
  try {
    const traffic::data::SceneReader reader(file.path());
    for (std::size_t i = 0; i < reader.episodes().size(); ++i) (void)reader.read(i);
  } catch (const traffic::Error&) {
  }
  return 0;
}
