// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include "tests/comma_locale.h"
#include "tests/engine/engine_support.h"

namespace holdfast {
namespace {

// Its sizes and bases are in the signature as text.
TEST(MakeState, SaysTheSameOfAModelsConfigInEveryLocale) {
  const Signature plain = make_state(test::tiny(), {})->signature();
  const test::CommaLocale locale;
  EXPECT_EQ(
      make_state(test::tiny(), {})->signature().difference(plain),
      std::nullopt);
}

} // namespace
} // namespace holdfast
