// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// When checksums are compared: a byte that changes before an image is first
// mapped, and one that changes while it is.

#include <gtest/gtest.h>

#include "holdfast/env/posix_file_system.h"
#include "tests/env/temp_folder.h"
#include "tests/tier/tier_rig.h"

namespace holdfast::test {
namespace {

class VerifyPolicy : public testing::Test {
 protected:
  VerifyPolicy() {
    rig_.options.folder = folder_ / "state";
    rig_.options.files = posix_file_system();
    const auto tier = rig_.open();
    stored_ = tier->store(path_batch(
                              tier->scope({"model a"}).value(),
                              chat_tokens(1, 64),
                              rig_.images))
                  .value();
  }
  std::unique_ptr<DiskTier> open(Verify verify) {
    rig_.options.verify = verify;
    return rig_.open();
  }
  Extent first() const {
    return stored_.images[0][0];
  }
  /// Mapped bytes are those of the file: whoever has it mapped sees it too.
  void change_first() const {
    flip(
        *rig_.options.files,
        segments_of(*rig_.options.files, rig_.options.folder).at(0),
        first().offset.get() + 9);
  }

  const TempFolder folder_;
  TierRig rig_;
  Stored stored_;
};

TEST_F(VerifyPolicy, AlwaysComparesAnImageEachTimeItIsMapped) {
  const auto tier = open(Verify::kAlways);
  const MappedImage held = tier->map(first()).value();
  EXPECT_TRUE(tier->map(first()).ok());
  change_first();
  EXPECT_EQ(tier->map(first()).status().code(), ErrorCode::kCorrupt);
}

TEST_F(VerifyPolicy, FirstTouchComparesItOnceAMapping) {
  const auto tier = open(Verify::kFirstTouch);
  {
    const MappedImage held = tier->map(first()).value();
    change_first();
    EXPECT_TRUE(tier->map(first()).ok()) << "it was compared";
  }
  // Another mapping, and in any process.
  EXPECT_EQ(tier->map(first()).status().code(), ErrorCode::kCorrupt);
}

TEST_F(VerifyPolicy, NeverGivesWhatIsThere) {
  change_first();
  EXPECT_TRUE(open(Verify::kNever)->map(first()).ok());
  EXPECT_EQ(
      open(Verify::kFirstTouch)->map(first()).status().code(),
      ErrorCode::kCorrupt);
}

} // namespace
} // namespace holdfast::test
