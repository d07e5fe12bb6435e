// CheckpointManager: saves, removes and chooses the checkpoints in the folder of a run.
#include "traffic/checkpoint/manager.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <limits>
#include <system_error>

#include "part_folder.h"
#include "traffic/checkpoint/file.h"
#include "traffic/checkpoint/parts.h"
#include "traffic/core/atomic_file.h"
#include "traffic/core/error.h"
#include "traffic/core/process.h"
#include "traffic/core/text.h"

namespace traffic::checkpoint {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kStepPrefix = "step-";
constexpr std::string_view kSuffix = ".h5";

/// The step in a file name: 1234 for "step-000001234.h5". nullopt for a name of another form.
std::optional<std::int64_t> step_of(const std::string& name) {
  if (!name.starts_with(kStepPrefix) || !name.ends_with(kSuffix)) return std::nullopt;
  std::int64_t step = 0;
  const char* begin = name.data() + kStepPrefix.size();
  const char* end = name.data() + name.size() - kSuffix.size();
  const auto [stop, error] = std::from_chars(begin, end, step);
  if (error != std::errc() || stop != end || step < 0) return std::nullopt;
  return step;
}

std::vector<std::string> file_names(const fs::path& dir) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator it(dir, error), end; !error && it != end; it.increment(error)) {
    names.push_back(it->path().filename().string());
  }
  if (error) throw io_error("list", dir, error.value());
  return names;
}

void create_folder(const fs::path& dir) {
  std::error_code error;
  fs::create_directories(dir, error);
  if (error) throw io_error("create", dir, error.value());
  if (!fs::is_directory(dir)) throw io_error("create", dir, ENOTDIR);
}

void remove_file(const fs::path& path) {
  if (::unlink(path.c_str()) != 0 && errno != ENOENT) throw io_error("remove", path, errno);
}

struct CheckpointFile {
  fs::path path;
  std::int64_t step = 0;
  std::string reason;  ///< why the step cannot be read from the file; empty if it can
};

/// All checkpoints of the folder, newest step first. Of files with equal steps, step-....h5 comes
/// first. Files whose step cannot be read (best.h5 or the result) come last.
std::vector<CheckpointFile> candidates(const fs::path& dir, const std::string& result) {
  std::vector<CheckpointFile> found;
  for (const std::string& name : file_names(dir)) {
    if (const auto step = step_of(name)) {
      found.push_back({dir / name, *step, ""});
    } else if (name == "best.h5" || name == result + std::string(kSuffix)) {
      CheckpointFile mark{dir / name, std::numeric_limits<std::int64_t>::min(), ""};
      try {
        mark.step = read_info(mark.path).step;
      } catch (const CheckpointError& error) {
        mark.reason = error.what();
      }
      found.push_back(std::move(mark));
    }
  }
  std::sort(found.begin(), found.end(), [](const CheckpointFile& a, const CheckpointFile& b) {
    if (a.step != b.step) return a.step > b.step;
    return a.path.filename() > b.path.filename();  // "step-" > "phase" > "best"
  });
  return found;
}

bool is_whole(const fs::path& path) {
  try {
    verify(path);
    return true;
  } catch (const CheckpointError&) {
    return false;
  }
}

void link_or_copy(const fs::path& source, const fs::path& target) {
  if (!fs::exists(source)) {
    throw CheckpointError(
        "the checkpoint {}, from which {} shall be made, does not exist; save it first",
        source.string(), target.filename().string());
  }
  AtomicFile file(target);
  if (::link(source.c_str(), file.temp_path().c_str()) != 0) {
    std::error_code error;  // copies the file, because the file system may have no hard links
    fs::copy_file(source, file.temp_path(), error);
    if (error) throw io_error("copy", source, error.value());
  }
  file.commit();
  // commit() renames the temporary file. rename() does nothing if both names are links of one file,
  // so the temporary name may still exist.
  remove_file(file.temp_path());
}

}  // namespace

CheckpointManager::CheckpointManager(fs::path dir, std::int64_t keep_last, std::string result)
    : dir_(std::move(dir)),
      keep_last_(keep_last),
      result_(std::move(result)),
      part_folder_(std::make_unique<PartFolder>(dir_)) {
  TRAFFIC_CHECK(keep_last_ >= 1, "keep_last is {}, expected at least 1", keep_last_);
  create_folder(dir_);
  remove_stale_temporaries(dir_);
}

CheckpointManager::~CheckpointManager() = default;

fs::path CheckpointManager::step_path(std::int64_t step) const {
  return dir_ / fmt::format("{}{:09d}{}", kStepPrefix, step, kSuffix);
}

fs::path CheckpointManager::result_path() const {
  return dir_ / fmt::format("{}{}", result_, kSuffix);
}

std::vector<std::int64_t> CheckpointManager::steps() const {
  std::vector<std::int64_t> steps;
  for (const std::string& name : file_names(dir_)) {
    if (const auto step = step_of(name)) steps.push_back(*step);
  }
  std::sort(steps.rbegin(), steps.rend());
  return steps;
}

fs::path CheckpointManager::save_step(const FileImage& image, bool best) {
  TRAFFIC_CHECK(image.step() >= 0, "the checkpoint has step {}, expected at least 0", image.step());
  const fs::path path = step_path(image.step());
  if (best) {
    // best.h5 comes first. After a crash between the two files the run resumes from best.h5. In the
    // other order it would resume from a step that claims to be the best, and its result would be
    // an older best.h5.
    save_best(image);
    link_or_copy(best_path(), path);
  } else {
    write(image, path);
  }
  prune();
  return path;
}

void CheckpointManager::save_best(const FileImage& image) { write(image, best_path()); }

void CheckpointManager::write(const FileImage& image, const fs::path& path) {
  create_folder(dir_);  // a user may have removed it during the run
  const FileInfo written = image.write(path);
  part_folder_->add(written.hash, image.named_parts());
}

fs::path CheckpointManager::leave_behind(const fs::path& origin) {
  const std::int64_t step = read_info(origin).step;
  std::error_code error;
  const bool is_here = fs::equivalent(origin.parent_path() / ".", dir_, error) && !error;
  std::vector<fs::path> moved;
  for (const CheckpointFile& candidate : candidates(dir_, result_)) {
    if (candidate.step > step || !is_here) moved.push_back(candidate.path);
  }
  if (moved.empty()) return {};
  const std::string wanted = fmt::format("left-behind-{:09d}", step);
  fs::path aside = dir_ / wanted;
  for (int number = 2; !fs::create_directory(aside, error); ++number) {
    if (error) throw io_error("create", aside, error.value());
    aside = dir_ / fmt::format("{}-{}", wanted, number);
  }
  for (const fs::path& path : moved) {
    fs::rename(path, aside / path.filename(), error);
    if (error) throw io_error("move", path, error.value());
  }
  return aside;
}

void CheckpointManager::take_best_along(const fs::path& origin) {
  if (fs::exists(best_path())) return;
  const fs::path beside = origin.parent_path() / "best.h5";
  link_or_copy(is_whole(beside) ? beside : origin, best_path());
}

fs::path CheckpointManager::mark_result() {
  link_or_copy(best_path(), result_path());
  return result_path();
}

std::vector<Rejected> CheckpointManager::remove_unnamed_parts() {
  return part_folder_->remove_unnamed();
}

void CheckpointManager::prune() const {
  const std::vector<std::int64_t> all = steps();
  const auto keep = static_cast<std::size_t>(keep_last_);
  if (all.size() <= keep) return;
  // The newest undamaged checkpoint stays even if it is not among the newest keep_last_ files. If
  // all checkpoints are damaged, all stay.
  const auto newest_whole = std::find_if(
      all.begin(), all.end(), [this](std::int64_t step) { return is_whole(step_path(step)); });
  if (newest_whole == all.end()) return;
  for (std::size_t i = keep; i < all.size(); ++i) {
    if (all[i] != *newest_whole) remove_file(step_path(all[i]));
  }
}

ResumePoint CheckpointManager::newest_valid() const {
  ResumePoint point;
  for (const CheckpointFile& candidate : candidates(dir_, result_)) {
    if (!candidate.reason.empty()) {
      point.rejected.push_back({candidate.path, candidate.reason});
      continue;
    }
    try {
      Snapshot snapshot = load(candidate.path);
      check_parts(snapshot);
      point.snapshot = std::move(snapshot);
      point.path = candidate.path;
      return point;
    } catch (const CheckpointError& error) {
      point.rejected.push_back({candidate.path, error.what()});
    }
  }
  if (!point.rejected.empty()) {
    std::string list;
    for (const Rejected& rejected : point.rejected) list += "\n  " + rejected.reason;
    throw CheckpointError(
        "none of the {} checkpoints in {} can be loaded; name an undamaged one with --resume PATH, "
        "or start from scratch with --resume never. The reasons are:{}",
        point.rejected.size(), dir_.string(), list);
  }
  return point;
}

SaveFailures::SaveFailures(std::int64_t limit) : limit_(limit) {
  TRAFFIC_CHECK(limit >= 1, "max_save_failures is {}, expected at least 1", limit);
}

void SaveFailures::failed(const std::string& reason) {
  ++total_;
  if (++in_a_row_ >= limit_) {
    throw ResourceError(
        "{} checkpoints in a row could not be saved (the limit of checkpoint.max_save_failures); "
        "the last error: {}",
        in_a_row_, reason);
  }
}

void check_folder(const fs::path& dir, std::int64_t bytes_per_file, std::int64_t num_files) {
  create_folder(dir);
  const std::int64_t free = free_disk_bytes(dir);
  if (free / num_files < bytes_per_file) {
    throw ResourceError(
        "not enough disk space for checkpoints in {}: {} free, {} needed ({} files of {}); free "
        "some space, lower checkpoint.keep_last or choose another --run-dir",
        dir.string(), human_bytes(free), human_bytes(bytes_per_file * num_files), num_files,
        human_bytes(bytes_per_file));
  }
  const fs::path probe = dir / ".write-test";
  write_file_atomically(probe, std::string_view("can this folder be written to?"));
  remove_file(probe);
}

}  // namespace traffic::checkpoint
