// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/prefix/scope.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "holdfast/base/key_hash.h"
#include "tests/prefix/prefix_rig.h"

namespace holdfast {
namespace {

using testing::HasSubstr;
using testing::Not;

Scope scope_with(
    const std::string& storage,
    std::string adapter = {},
    const std::string& salt = {}) {
  return Scope(
      Signature(std::vector<Signature::Field>{
          {"weights", "abc"}, {"layer 3 storage", storage}}),
      std::move(adapter),
      salt);
}

TEST(Scope, HasKeysThatStoredStateWasFiledUnder) {
  // sha256sum of the texts; these never change.
  const Scope plain = scope_with("q8");
  EXPECT_EQ(
      plain.text(),
      "holdfast scope 1\n0:\n0:\n7:weights\n3:abc\n15:layer 3 storage\n2:q8\n");
  EXPECT_EQ(plain.root().hex(), "46cd13cc49e8719ea04c64be5e69eeac");
  EXPECT_EQ(
      scope_with("q8", "adapter", "salt").root().hex(),
      "7fe4b22977866c55dc66a0e47a303b5f");
  const std::vector<int32_t> tokens{1, 2, 3, -1};
  EXPECT_EQ(
      chained_key(plain.root(), tokens, "").hex(),
      "de406e18c57676056740928da1ff9ed6");
}

TEST(Scope, NamesTheFieldInWhichAnotherDiffers) {
  const Scope q8 = scope_with("q8");
  EXPECT_EQ(
      q8.difference(scope_with("q4")).value(),
      "layer 3 storage: expected q8, got q4");
  EXPECT_EQ(
      q8.difference(scope_with("q8", "\x01\xff")).value(),
      "adapter: expected none, got 01ff");
  EXPECT_FALSE(q8.difference(scope_with("q8")).has_value());
}

TEST(Scope, NeverPrintsATenant) {
  const Scope one = scope_with("q8", "", "one tenant's salt");
  const Scope two = scope_with("q8", "", "two");
  EXPECT_EQ(
      one.difference(two).value(), "tenant: expected this one, got another");
  EXPECT_THAT(one.text(), Not(HasSubstr("one tenant's salt")));
  EXPECT_NE(one.root(), two.root());
  EXPECT_TRUE(one.of_other_tenant(two));
  EXPECT_TRUE(one.of_other_tenant(scope_with("q8")));
}

TEST(Scope, CannotBeMistakenWherePartsMoveBetweenFields) {
  const auto of = [](const std::string& name, const std::string& value) {
    return Scope(signature(name, value));
  };
  EXPECT_NE(of("a", "bc"), of("ab", "c"));
  EXPECT_NE(of("a", "b\n1:c\n1:d"), Scope(Signature({{"a", "b"}, {"c", "d"}})));
  EXPECT_NE(scope_with("q8", "x"), scope_with("q8", "", "x"));
}

TEST(Scope, ReadsItsOwnTextAndNoOther) {
  const Scope scope = scope_with("q\n8:", "adapter", "salt");
  EXPECT_EQ(Scope::parse(scope.text()).value(), scope);
  EXPECT_EQ(Scope::parse(scope.text()).value().root(), scope.root());
  for (size_t size = 0; size < scope.text().size(); ++size) {
    // A cut between fields leaves whole ones: a name without its value is
    // refused, a field less is another scope.
    const auto cut = Scope::parse(scope.text().substr(0, size));
    EXPECT_TRUE(!cut.ok() || !(cut.value() == scope)) << size;
  }
  for (const char* text :
       {"",
        "holdfast scope 2\n0:\n0:\n",
        "holdfast scope 1\n00:\n0:\n",
        "holdfast scope 1\n0:\n4:salt\n",
        "holdfast scope 1\n-1:\n0:\n",
        "holdfast scope 1\n99999999999999999999:\n0:\n"}) {
    EXPECT_EQ(Scope::parse(text).status().code(), ErrorCode::kCorrupt) << text;
  }
}

} // namespace
} // namespace holdfast
