/// Checks the links between documents: each leads to a file and a heading, and a reader who starts
/// at README.md can reach every document.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace traffic::test {
namespace {

namespace fs = std::filesystem;

const fs::path kRoot = TRAFFIC_SOURCE_DIR;

/// Text of a file without its code blocks, because brackets in these are not links.
std::string prose_of(const fs::path& file) {
  std::ifstream in(file);
  std::string prose;
  bool inside_code = false;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("```")) {
      inside_code = !inside_code;
    } else if (!inside_code) {
      prose += line + "\n";
    }
  }
  return prose;
}

struct Link {
  std::string path;    ///< relative to the document's folder; if empty, the document itself
  std::string anchor;  ///< heading without #; if empty, the beginning of the document
};

/// Links to files of the repository, pictures included.
std::vector<Link> links_of(const fs::path& file) {
  const std::string prose = prose_of(file);
  const std::regex link(R"(\]\(([^)\s#]*)(?:#([^)\s]*))?\))");
  std::vector<Link> links;
  for (std::sregex_iterator found(prose.begin(), prose.end(), link), end; found != end; ++found) {
    const std::string path = (*found)[1];
    if (path.find("://") == std::string::npos) links.push_back({path, (*found)[2]});
  }
  return links;
}

/// Anchors of the headings of a document (the part of a link after #), as GitHub makes them.
std::set<std::string> anchors_of(const fs::path& file) {
  std::istringstream in(prose_of(file));
  std::set<std::string> anchors;
  for (std::string line; std::getline(in, line);) {
    const auto text = line.find_first_not_of('#');
    if (text == 0 || text == std::string::npos) continue;
    std::string anchor;
    for (const unsigned char letter : line.substr(text + 1)) {
      if (letter == ' ') anchor += '-';
      if (std::isalnum(letter) != 0 || letter == '-' || letter == '_' || letter >= 0x80) {
        anchor += static_cast<char>(std::tolower(letter));
      }
    }
    anchors.insert(anchor);
  }
  return anchors;
}

/// README.md, CHANGELOG.md, the READMEs of folders, and docs/.
std::vector<fs::path> documents() {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(kRoot)) {
    if (entry.path().extension() == ".md") files.push_back(entry.path());
  }
  for (const char* folder : {"docs", "configs", "data_prep", "launch", "src", "tests"}) {
    for (const auto& entry : fs::recursive_directory_iterator(kRoot / folder)) {
      if (entry.path().extension() == ".md") files.push_back(entry.path());
    }
  }
  return files;
}

TEST(Documents, EveryLinkLeadsToAFileAndAHeading) {
  int links = 0;
  for (const fs::path& file : documents()) {
    for (const Link& link : links_of(file)) {
      ++links;
      const fs::path target = link.path.empty() ? file : file.parent_path() / link.path;
      EXPECT_TRUE(fs::exists(target)) << file << " links to " << link.path;
      if (link.anchor.empty() || target.extension() != ".md" || !fs::exists(target)) continue;
      EXPECT_TRUE(anchors_of(target).contains(link.anchor))
          << file << " links to a heading #" << link.anchor << " of " << target;
    }
  }
  EXPECT_GT(links, 100);
}

TEST(Documents, EveryFileOfDocsIsReachableFromTheReadme) {
  std::set<fs::path> reached{kRoot / "README.md"};
  std::vector<fs::path> pending(reached.begin(), reached.end());
  while (!pending.empty()) {
    const fs::path file = pending.back();
    pending.pop_back();
    for (const Link& link : links_of(file)) {
      const fs::path target = fs::weakly_canonical(file.parent_path() / link.path);
      if (!link.path.empty() && reached.insert(target).second && target.extension() == ".md") {
        pending.push_back(target);
      }
    }
  }
  for (const auto& entry : fs::recursive_directory_iterator(kRoot / "docs")) {
    if (entry.is_directory()) continue;
    EXPECT_TRUE(reached.contains(fs::weakly_canonical(entry.path())))
        << entry.path() << " cannot be reached by links from README.md";
  }
}

TEST(Documents, PathsOfDocumentsInSourcesExist) {
  const std::regex path(R"(docs/[a-z-]+(?:/[a-z-]+)*\.md)");
  int paths = 0;
  for (const char* folder : {"src", "include", "configs", "data_prep", "launch", "tests"}) {
    for (const auto& entry : fs::recursive_directory_iterator(kRoot / folder)) {
      static const std::set<fs::path> kTexts{".cpp", ".h", ".py", ".sh", ".toml", ".txt", ".md"};
      if (!kTexts.contains(entry.path().extension())) continue;
      std::ifstream in(entry.path());
      const std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
      for (std::sregex_iterator found(text.begin(), text.end(), path), end; found != end; ++found) {
        ++paths;
        EXPECT_TRUE(fs::exists(kRoot / found->str())) << entry.path() << " names " << found->str();
      }
    }
  }
  EXPECT_GT(paths, 30);
}

TEST(Documents, SourceFilesThatReadmesOfTheSourceNameExist) {
  std::set<std::string> existing;
  for (const char* folder : {"src", "include", "data_prep", "tests", "launch"}) {
    for (const auto& entry : fs::recursive_directory_iterator(kRoot / folder)) {
      existing.insert(entry.path().filename().string());
    }
  }
  const std::set<std::string> of_libraries{"mpi.h", "nccl.h"};
  const std::regex name(R"(`(?:[a-z0-9_]+/)*([a-z0-9_]+\.(?:h|cpp|py|sh))`)");
  int names = 0;
  for (const char* folder : {"src", "data_prep", "tests", "launch"}) {
    for (const auto& entry : fs::recursive_directory_iterator(kRoot / folder)) {
      if (entry.path().filename() != "README.md") continue;
      const std::string text = prose_of(entry.path());
      for (std::sregex_iterator found(text.begin(), text.end(), name), end; found != end; ++found) {
        ++names;
        const std::string file = (*found)[1];
        EXPECT_TRUE(existing.contains(file) || of_libraries.contains(file))
            << entry.path() << " names " << file;
      }
    }
  }
  EXPECT_GT(names, 50);
}

TEST(Documents, TheListOfConfigurationFilesIsComplete) {
  std::ifstream in(kRoot / "configs/README.md");
  const std::string list{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  std::set<std::string> listed;
  const std::regex name(R"(`([a-z0-9_/]+\.toml)`)");
  for (std::sregex_iterator found(list.begin(), list.end(), name), end; found != end; ++found) {
    listed.insert((*found)[1]);
  }
  std::set<std::string> existing;
  for (const auto& entry : fs::recursive_directory_iterator(kRoot / "configs")) {
    if (entry.path().extension() == ".toml") {
      existing.insert(fs::relative(entry.path(), kRoot / "configs").string());
    }
  }
  EXPECT_EQ(listed, existing);
}

TEST(Documents, TextOutsideTablesAndCodeFitsInto120Columns) {
  for (const fs::path& file : documents()) {
    // The program writes this file; a test in tests/config checks that it is up to date.
    if (file.filename() == "configuration.md") continue;
    std::istringstream in(prose_of(file));
    for (std::string line; std::getline(in, line);) {
      const auto columns =
          std::ranges::count_if(line, [](unsigned char byte) { return (byte & 0xC0U) != 0x80U; });
      EXPECT_TRUE(line.starts_with("|") || columns <= 120) << file << ": " << line;
    }
  }
}

}  // namespace
}  // namespace traffic::test
