#include "run/staged_files.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <cstdint>
#include <filesystem>
#include <sstream>
#include <string>
#include <system_error>
#include <vector>

#include "run/folder_choice.h"
#include "run/node_files.h"
#include "run/together.h"
#include "traffic/core/atomic_file.h"
#include "traffic/core/error.h"
#include "traffic/core/hash.h"
#include "traffic/core/process.h"
#include "traffic/core/text.h"
#include "traffic/data/reader.h"

namespace traffic::train {
namespace {

namespace fs = std::filesystem;

/// A file of data.files as rank 0 sees it.
struct Source {
  std::string path;
  std::string copy;  ///< name of its copies; empty: the file cannot be read and is not copied
  std::int64_t bytes = 0;
  std::int64_t changed = 0;  ///< time of the last change
};

std::int64_t time_of_change(const fs::path& path) {
  return fs::last_write_time(path).time_since_epoch().count();
}

Source source_of(const std::string& path, bool may_be_bad) {
  Source source{.path = path, .copy = {}, .bytes = 0, .changed = 0};
  try {
    const data::DatasetReader file(path);
    source.bytes = file.file_bytes();
    source.changed = time_of_change(path);
    source.copy = fmt::format("{}-{}.h5", fs::path(path).stem().string(),
                              hex64(xxh3_64(fmt::format("{} {} {}", file.info().content_hash,
                                                        source.bytes, source.changed))));
  } catch (const DataError&) {
    if (!may_be_bad) throw;
  }
  return source;
}

/// Lists the files on rank 0 and broadcasts the list.
std::vector<Source> find_sources(const config::Data& data, comm::Communicator& communicator) {
  std::string lines;
  together(communicator, [&] {
    if (communicator.rank() != 0) return;
    for (const std::string& path : data::find_data_files(data.files)) {
      const Source source = source_of(path, data.max_bad_file_share > 0.0);
      lines +=
          fmt::format("{}\n{}\n{} {}\n", source.path, source.copy, source.bytes, source.changed);
    }
  });
  std::istringstream in(communicator.broadcast_string(lines, 0));
  std::vector<Source> sources;
  for (Source source; std::getline(in, source.path) && std::getline(in, source.copy);) {
    in >> source.bytes >> source.changed >> std::ws;
    sources.push_back(source);
  }
  return sources;
}

bool has_size(const fs::path& path, std::int64_t bytes) {
  std::error_code error;
  return fs::is_regular_file(path, error) &&
         fs::file_size(path, error) == static_cast<std::uintmax_t>(bytes) && !error;
}

/// Whether this node sees the same file as rank 0, or one of equal size and time of change.
bool sees(const Source& source) {
  return has_size(source.path, source.bytes) && time_of_change(source.path) == source.changed;
}

void check_room(const fs::path& dir, std::int64_t needed) {
  const auto available = static_cast<std::int64_t>(fs::space(dir).available);
  if (needed <= available) return;
  throw ResourceError(
      "data.stage_dir: {} on {} has {} free, but the missing copies of the data sets need {}; "
      "name a folder on another disk, remove old copies, or leave data.stage_dir empty",
      dir.string(), hostname(), human_bytes(available), human_bytes(needed));
}

void copy_here(const Source& source, const fs::path& target) {
  AtomicFile copy(target);
  std::error_code error;
  fs::copy_file(source.path, copy.temp_path(), error);
  if (error) throw io_error("copy", source.path, error.value());
  copy.commit();
}

}  // namespace

config::Data with_staged_files(const config::Data& data, comm::Communicator& device_communicator) {
  if (data.stage_dir.empty()) return data;
  comm::Communicator& communicator = device_communicator.host();
  const fs::path dir = data.stage_dir;
  const bool leads = communicator.topology().is_leader();
  const std::vector<Source> sources = find_sources(data, communicator);
  config::Data staged = data;
  staged.files.clear();
  std::int64_t missing_bytes = 0;
  for (const Source& source : sources) {
    const std::string copy = source.copy.empty() ? source.path : (dir / source.copy).string();
    if (leads && !source.copy.empty() && !has_size(copy, source.bytes)) {
      missing_bytes += source.bytes;
    }
    staged.files.push_back(copy);
  }
  together(communicator, [&] {
    if (!leads) return;
    create_folder(dir);
    remove_stale_temporaries(dir);
    check_room(dir, missing_bytes);
  });
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const fs::path target = staged.files[i];
    bool lacks = leads && !sources[i].copy.empty() && !has_size(target, sources[i].bytes);
    together(communicator, [&] {
      if (!lacks || !sees(sources[i])) return;
      copy_here(sources[i], target);
      lacks = false;
    });
    if (communicator.all_reduce_scalar(lacks ? 1.0 : 0.0, comm::ReduceOp::kMax) == 0.0) continue;
    copy_from_rank_0(communicator, {.path = sources[i].path, .bytes = sources[i].bytes},
                     lacks ? target : fs::path());
  }
  if (leads) {
    spdlog::info("data: {} in {} on {}; {} were copied now",
                 counted(static_cast<std::int64_t>(sources.size()), "file"), dir.string(),
                 hostname(), human_bytes(missing_bytes));
  }
  return staged;
}

}  // namespace traffic::train
