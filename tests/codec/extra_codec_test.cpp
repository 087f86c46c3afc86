// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// A codec that is registered in a test joins every suite of this program.

#include "tests/extra_codec.h"

#include <gtest/gtest.h>

namespace holdfast {
namespace {

const ExtraCodec kExtra;
const CodecRegistration kRegistered = register_codec(&kExtra);

TEST(ExtraCodec, RunsInTheSuiteOfAllCodecs) {
  bool found = false;
  const auto& program = *::testing::UnitTest::GetInstance();
  for (int s = 0; s < program.total_test_suite_count(); ++s) {
    const ::testing::TestSuite& suite = *program.GetTestSuite(s);
    for (int t = 0; t < suite.total_test_count(); ++t) {
      const std::string name = suite.GetTestInfo(t)->name();
      found =
          found || name.ends_with("EverySlotWhateverTheOrderOfWriting/extra");
    }
  }
  EXPECT_TRUE(found);
  EXPECT_EQ(find_codec("extra").value(), &kExtra);
}

TEST(ExtraCodec, IsRefusedASecondTime) {
  const ExtraCodec twin;
  const size_t before = all_codecs().size();
  try {
    const CodecRegistration again = register_codec(&twin);
    FAIL() << "registered twice";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
  }
  EXPECT_THROW(CodecRegistration(nullptr), Error);
  EXPECT_EQ(all_codecs().size(), before);
}

} // namespace
} // namespace holdfast
