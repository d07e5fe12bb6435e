// Fuzz target: reads the text in which a checkpoint names its parts, which are files in the folder
// parts/ beside the checkpoint. Every accepted name must denote a file in that folder.
#include <cstdlib>
#include <filesystem>

#include "traffic/checkpoint/parts.h"
#include "traffic/core/error.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace checkpoint = traffic::checkpoint;
  checkpoint::Snapshot snapshot(1);
  snapshot.set_source("/nowhere/checkpoints/step-000000001.h5");
  snapshot.put_text("parts/any", std::string(reinterpret_cast<const char*>(data), size));
  try {
    for (const std::string& name : checkpoint::parts_of(snapshot, "parts/any")) {
      const std::filesystem::path path =
          checkpoint::place_of_part(snapshot.source(), name).lexically_normal();
      if (path != std::filesystem::path("/nowhere/checkpoints/parts") / name) std::abort();
      if (path.filename() != name) std::abort();
    }
    checkpoint::check_parts(snapshot);
  } catch (const traffic::CheckpointError&) {
  }
  return 0;
}
