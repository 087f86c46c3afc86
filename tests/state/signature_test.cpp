// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/state/signature.h"

#include <gtest/gtest.h>

#include "tests/comma_locale.h"
#include "tests/state/hybrid.h"

namespace holdfast {
namespace {

using namespace test;

// All that is stored would be a miss.
TEST(Signature, IsTheSameInEveryLocale) {
  StateOptions with = hybrid();
  with.layers[0] = RecurrentSpec{1024, 2048, 32, 32, 4};
  auto& attention = std::get<AttentionSpec>(with.layers[1]);
  attention.visibility = {.window = 4096, .sinks = 1234};
  attention.scale = 0.3f;
  attention.softcap = 50.5f;
  attention.sink_logits = {1.5f, 2.5f, 3.5f, 4096.5f};
  const Signature plain = State(with).signature();
  const CommaLocale locale;
  std::ostringstream shown;
  shown << 4096.5;
  ASSERT_EQ(shown.str(), "4.096,5");
  EXPECT_EQ(State(with).signature().difference(plain), std::nullopt);
}

} // namespace
} // namespace holdfast
