// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// FAULTS B90 (b): what a restore costs, and that it ends with its row.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "holdfast/env/posix_file_system.h"
#include "tests/env/temp_folder.h"
#include "tests/prefix/cache_process.h"

namespace holdfast {
namespace {

using namespace test;

int64_t mappings_of(const std::string& folder) {
  std::ifstream maps("/proc/self/maps");
  int64_t count = 0;
  for (std::string line; std::getline(maps, line);) {
    count += line.find(folder) != line.npos;
  }
  return count;
}

int64_t descriptors() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return std::distance(begin(all), end(all));
}

TEST(RestoreCost, B90_FiftyRestoresLeaveNoMappingAndNoDescriptorBehind) {
  const TempFolder folder;
  const std::string path = folder / "state";
  const Sequence vectors(kLength, 31);
  {
    Process first(options(), posix_file_system(), Bytes(1 << 30), path);
    first.run(text_tokens(200), vectors);
    ASSERT_TRUE(first.cache().flush().durable);
  }
  State state(options());
  int64_t before = 0;
  for (int round = 0; round < 50; ++round) {
    PrefixCacheOptions with;
    with.disk = DiskTier::open({.folder = path,
                                .files = posix_file_system(),
                                .clock = system_clock()})
                    .value();
    PrefixCache cache(state, std::move(with));
    const Begun begun = cache.begin({text_tokens(kLength)});
    ASSERT_EQ(begun.reused, Position(200)) << begun.why.line();
    EXPECT_GT(mappings_of(path), 0);
    append_to(state, begun.row, {&vectors, 200, 10});
    state.remove_row(begun.row);
    before = round == 0 ? descriptors() : before;
    EXPECT_EQ(descriptors(), before) << round;
  }
  EXPECT_EQ(mappings_of(path), 0);
  EXPECT_EQ(state.bytes(), Bytes(0));
}

TEST(RestoreCost, B90_TheFirstAppendAllocatesATailOfEachGroupAndNoContext) {
  const auto files = disk();
  const Sequence vectors(kLength, 32);
  {
    Process first(options(), files);
    first.run(text_tokens(250), vectors);
    ASSERT_TRUE(first.cache().flush().durable);
  }
  Process later(options(), files);
  State& state = later.state();
  const Begun begun = later.cache().begin({text_tokens(kLength)});
  ASSERT_EQ(begun.reused, Position(250));
  const Bytes restored = state.bytes();
  append_to(state, begun.row, {&vectors, 250, 1});
  const auto images = state.groups().image_bytes();
  EXPECT_EQ(state.bytes() - restored, images[0] + images[1]);
}

} // namespace
} // namespace holdfast
