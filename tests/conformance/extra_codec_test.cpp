// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// A codec that nothing but this file knows joins the suite by itself.

#include "tests/extra_codec.h"

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace holdfast {
namespace {

const ExtraCodec kExtra;
const CodecRegistration kRegistered = register_codec(&kExtra);

TEST(ConformanceOfAnExtraCodec, RunsLikeThatOfAnyOther) {
  std::vector<std::string> names;
  const auto& program = *::testing::UnitTest::GetInstance();
  for (int s = 0; s < program.total_test_suite_count(); ++s) {
    const ::testing::TestSuite& suite = *program.GetTestSuite(s);
    if (std::string(suite.name()) == "EachCodec/Conformance") {
      for (int t = 0; t < suite.total_test_count(); ++t) {
        names.emplace_back(suite.GetTestInfo(t)->name());
      }
    }
  }
  for (const Codec* codec : all_codecs()) {
    std::string end = "/";
    end += codec->name();
    const auto tests =
        std::count_if(names.begin(), names.end(), [&](const std::string& name) {
          return name.ends_with(end);
        });
    EXPECT_EQ(tests, 3) << codec->name();
  }
  EXPECT_EQ(find_codec("extra").value(), &kExtra);
}

} // namespace
} // namespace holdfast
