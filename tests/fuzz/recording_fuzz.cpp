// Fuzz target: reads recordings of traffic as data_prep convert does. The first byte of the input
// chooses the format.
#include <array>

#include "convert/formats.h"
#include "memory_file.h"
#include "traffic/core/error.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace data_prep = traffic::data_prep;
  constexpr std::array kFormats{"fcd", "json", "ngsim", "highd", "auto"};
  if (size == 0) return 0;
  const std::size_t choice = data[0];
  const traffic::fuzz::MemoryFile file(data + 1, size - 1);
  try {
    data_prep::InputProblems problems(/*skip=*/choice >= 128);
    const auto recording = data_prep::open_recording({.path = file.path(), .shown_path = "fuzz"},
                                                     kFormats[choice % kFormats.size()], problems);
    recording->read([](data_prep::RecordedFrame& frame) {
      for (const auto& vehicle : frame.vehicles) (void)frame.view(vehicle.name);
      return true;
    });
  } catch (const traffic::Error&) {
  }
  return 0;
}
