// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// A folder that another one was mounted over while a tier is open.

#include <gtest/gtest.h>

#include "holdfast/env/faulty_file_system.h"
#include "tests/tier/tier_rig.h"

namespace holdfast::test {
namespace {

/// Says that files lie on another device.
class MovedFileSystem : public FaultyFileSystem {
 public:
  using FaultyFileSystem::FaultyFileSystem;
  Result<FileFacts> facts(const std::string& path) override {
    auto facts = FaultyFileSystem::facts(path);
    if (!facts.ok()) {
      return facts;
    }
    FileFacts moved = facts.value();
    moved.device += device;
    return moved;
  }
  uint64_t device = 0;
};

// Numbers of files begin anew on each: a folder that was mounted over has
// another manifest, maybe under the same one.
TEST(MovedManifest, OfTheSameNumberOnAnotherDeviceIsAnotherOne) {
  TierRig rig;
  const auto files = std::make_shared<MovedFileSystem>(rig.memory);
  rig.options.files = files;
  const auto tier = rig.open();
  const auto opens = [&] {
    const int64_t before = rig.memory->counts().opens;
    EXPECT_TRUE(tier->stats().ok());
    return rig.memory->counts().opens - before;
  };
  opens();
  EXPECT_EQ(opens(), 0);
  files->device = 1;
  EXPECT_GT(opens(), 0);
  EXPECT_EQ(opens(), 0);
}

} // namespace
} // namespace holdfast::test
