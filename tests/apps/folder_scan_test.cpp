// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// A search through a folder finds every place, wherever in a file it lies.

#include "apps/holdfast/folder_scan.h"

#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/apps/program.h"
#include "tests/code_of.h"

namespace holdfast::app {
namespace {

namespace fs = std::filesystem;
using test::scratch;

const std::string kText = "a text of more than sixteen bytes";

struct Scanned {
  Scanned() : folder(scratch("scan")) {
    fs::create_directories(folder + "/below");
  }
  ~Scanned() {
    fs::remove_all(folder);
  }
  void write(const std::string& name, const std::string& bytes) const {
    std::ofstream(folder + "/" + name, std::ios::binary) << bytes;
  }
  ScanReport scan(const std::vector<std::string>& texts = {kText}) const {
    ByteSearch search;
    for (const std::string& text : texts) {
      search.add(text);
    }
    Bytes last;
    ScanReport report = scan_folder(folder, search, [&](Bytes done, Bytes all) {
      EXPECT_LE(last, done);
      EXPECT_LE(done, all);
      last = done;
    });
    EXPECT_EQ(report.bytes, last);
    return report;
  }
  const std::string folder;
};

TEST(FolderScan, FindsATextAtEveryOffsetAcrossItsChunks) {
  const Scanned scanned;
  constexpr size_t kChunk = size_t{4} << 20;
  for (const size_t at :
       {size_t{0},
        size_t{1},
        kChunk - kText.size() - 1,
        kChunk - kText.size(),
        kChunk - 5,
        kChunk - 1,
        kChunk,
        kChunk + 1,
        2 * kChunk - 9}) {
    std::string bytes(2 * kChunk + 100, '\0');
    bytes.replace(at, kText.size(), kText);
    scanned.write("below/file", bytes);
    const ScanReport report = scanned.scan();
    EXPECT_EQ(report.found, 1) << at;
    EXPECT_EQ(report.files, 1);
    EXPECT_EQ(report.bytes, Bytes(static_cast<int64_t>(bytes.size())));
  }
}

TEST(FolderScan, FindsEachOfSeveralTextsAndNothingElse) {
  const Scanned scanned;
  const std::string other = "a text of another kind altogether";
  const std::string almost = kText.substr(0, kText.size() - 1) + "?";
  scanned.write("one", "x" + kText + kText + almost);
  scanned.write("below/two", other);
  scanned.write("below/three", almost);
  scanned.write("empty", "");
  const ScanReport report = scanned.scan({kText, other, kText});
  EXPECT_EQ(report.found, 3);
  EXPECT_EQ(report.files, 4);
  EXPECT_THAT(
      report.files_found,
      testing::UnorderedElementsAre(
          scanned.folder + "/one", scanned.folder + "/below/two"));
  EXPECT_TRUE(report.unread.empty());
}

TEST(FolderScan, NamesWhatItDidNotRead) {
  const Scanned scanned;
  scanned.write("file", kText);
  fs::create_symlink(scanned.folder + "/file", scanned.folder + "/link");
  const ScanReport report = scanned.scan();
  EXPECT_EQ(report.found, 1);
  ASSERT_EQ(report.unread.size(), 1u);
  EXPECT_TRUE(report.unread[0].starts_with(scanned.folder + "/link: "));
}

TEST(FolderScan, LeavesOutTextsThatOthersHave) {
  ByteSearch search;
  const std::string other = "a text of another kind altogether";
  search.add(kText);
  search.add(other);
  const ByteSearch rest = search.without_those_in({"..." + other + "..."});
  EXPECT_EQ(rest.size(), 1u);
  int found = 0;
  rest.in(kText + other, [&](size_t at, const std::string& text) {
    EXPECT_EQ(at, 0u);
    EXPECT_EQ(text, kText);
    ++found;
  });
  EXPECT_EQ(found, 1);
}

TEST(FolderScan, RefusesTextsThatAreFoundByChance) {
  ByteSearch search;
  EXPECT_EQ(
      code_of([&] { search.add("fifteen bytes.."); }),
      ErrorCode::kInvalidArgument);
}

} // namespace
} // namespace holdfast::app
