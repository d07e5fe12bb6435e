// Fuzz target: loads a checkpoint. The input is the part of the file after the header. The target
// adds a header with the correct hashes, because an attacker can compute them, too.
#include <cstring>
#include <span>
#include <vector>

#include "checkpoint/header.h"
#include "memory_file.h"
#include "traffic/checkpoint/file.h"
#include "traffic/core/error.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace checkpoint = traffic::checkpoint;
  const checkpoint::Header header =
      checkpoint::make_header(1, std::as_bytes(std::span(data, size)));
  std::vector<std::uint8_t> bytes(sizeof(header) + size);
  std::memcpy(bytes.data(), &header, sizeof(header));
  if (size > 0) std::memcpy(bytes.data() + sizeof(header), data, size);
  const traffic::fuzz::MemoryFile file(bytes.data(), bytes.size());
  try {
    (void)checkpoint::load(file.path());
  } catch (const traffic::Error&) {
  }
  return 0;
}
