// Fuzz target: opens a data set as training does, then reads all of it.
#include "memory_file.h"
#include "traffic/core/error.h"
#include "traffic/data/reader.h"
#include "traffic/data/verify.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const traffic::fuzz::MemoryFile file(data, size);
  try {
    const traffic::data::DatasetReader reader(file.path());
    (void)traffic::data::find_problems(reader);
  } catch (const traffic::Error&) {
  }
  return 0;
}
