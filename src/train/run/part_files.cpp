#include "run/part_files.h"

#include <fmt/ranges.h>
#include <torch/types.h>

#include <algorithm>
#include <sstream>
#include <system_error>
#include <vector>

#include "run/node_files.h"
#include "run/together.h"
#include "traffic/checkpoint/file.h"
#include "traffic/checkpoint/parts.h"
#include "traffic/core/atomic_file.h"
#include "traffic/core/error.h"

namespace traffic::train {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

std::string names_of(const checkpoint::Snapshot& snapshot) {
  std::string names;
  for (const auto& part : snapshot.parts()) names += part.name + " ";
  return names;
}

/// Broadcasts a part from its owner to every rank.
checkpoint::Bytes share_part(comm::Communicator& communicator, const checkpoint::Snapshot& snapshot,
                             const std::string& name, int owner) {
  checkpoint::Bytes bytes;
  if (communicator.rank() == owner) {
    bytes = std::ranges::find(snapshot.parts(), name, &checkpoint::Snapshot::Part::name)->bytes();
  }
  torch::Tensor size = torch::full({1}, static_cast<std::int64_t>(bytes.size()), torch::kLong);
  communicator.broadcast(size, owner);
  bytes.resize(static_cast<std::size_t>(size.item<std::int64_t>()));
  communicator.broadcast(torch::from_blob(bytes.data(), {std::ssize(bytes)}, torch::kByte), owner);
  return bytes;
}

}  // namespace

std::string write_parts_for_others(comm::Communicator& device_communicator,
                                   const checkpoint::Snapshot& snapshot, const fs::path& dir,
                                   bool seen) {
  comm::Communicator& communicator = device_communicator.host();
  std::string why;
  for (int owner = 0; owner < communicator.size(); ++owner) {
    const std::string names =
        communicator.broadcast_string(seen ? std::string() : names_of(snapshot), owner);
    std::vector<std::string> lacking = words_of(names);
    std::erase_if(lacking, [&](const std::string& name) {
      std::error_code unknown;
      return fs::exists(checkpoint::place_of_part(dir / "checkpoint", name), unknown);
    });
    const std::string asked =
        communicator.broadcast_string(fmt::format("{}", fmt::join(lacking, " ")), /*root=*/0);
    for (const std::string& name : words_of(asked)) {
      const checkpoint::Bytes bytes = share_part(communicator, snapshot, name, owner);
      if (communicator.rank() != 0 || !why.empty()) continue;
      checkpoint::Snapshot one;
      one.add_part({.name = name, .bytes = [&bytes] { return bytes; }});
      try {
        checkpoint::write_parts(one, dir);
      } catch (const Error& error) {
        why = error.what();
      }
    }
  }
  return why;
}

void bring_parts(comm::Communicator& device_communicator, const fs::path& checkpoint) {
  comm::Communicator& communicator = device_communicator.host();
  std::string names;
  together(communicator, [&] {
    if (communicator.rank() != 0) return;
    // All parts are checked before the first one is copied to another node.
    const checkpoint::Snapshot snapshot = checkpoint::load(checkpoint, "parts/");
    check_parts(snapshot);
    names = fmt::format("{}", fmt::join(named_parts(snapshot), " "));
  });
  for (const std::string& name : words_of(communicator.broadcast_string(names, 0))) {
    bring_file(communicator, checkpoint::place_of_part(checkpoint, name));
  }
}

}  // namespace traffic::train
