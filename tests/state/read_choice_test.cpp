// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Which read a layer gets: of those that its spec permits, in its order; a
// scheme that none of them reads is refused by name.

#include "tests/state/failing_codec.h"
#include "tests/state/layers.h"

namespace holdfast {
namespace {

using test::expect_error;
using test::Sequence;

using Names = std::vector<std::string>;

// One layer of turbo state, and one like it that reads it.
StateOptions turbo_and_donor(Names reads, Names donor_reads) {
  StateOptions options = test::options("t4");
  options.layers.resize(2);
  auto& spec = std::get<AttentionSpec>(options.layers[0]);
  spec.reads = std::move(reads);
  auto& over = std::get<AttentionSpec>(options.layers[1]);
  over.donor = LayerIndex(0);
  over.visibility = spec.visibility;
  over.reads = std::move(donor_reads);
  return options;
}

// The output of the layer over its donor, in chunks; `own`: of the donor.
std::vector<float>
run_both(StateOptions options, const Sequence& sequence, bool own) {
  State state(std::move(options));
  const RowId row = state.add_row();
  std::vector<float> all;
  for (int64_t done = 0; done < 150; done += 50) {
    const test::Part part{&sequence, done, 50};
    const RowAppend append{row, 50};
    Step step = state.begin({&append, 1});
    const auto q = test::gather({part}, &Sequence::q, test::kHeads);
    auto first = step.attend(
        LayerIndex(0),
        q,
        test::gather({part}, &Sequence::k, test::kKvHeads),
        test::gather({part}, &Sequence::v, test::kKvHeads));
    auto second = step.attend_donor(LayerIndex(1), q);
    mlx::core::eval({first, second});
    const auto out = test::values_of(own ? first : second);
    all.insert(all.end(), out.begin(), out.end());
    step.commit_all();
  }
  return all;
}

TEST(ReadChoice, IsTheFirstThatTheSpecPermits) {
  const State free(turbo_and_donor({}, {}));
  const State deferred(turbo_and_donor({"blocks.1"}, {}));
  const State dense(turbo_and_donor({"reference.1", "blocks.1"}, {}));
  EXPECT_EQ(
      free.explain(), "layer 0: blocks.1; stored as t4\nlayer 1: blocks.1\n");
  EXPECT_EQ(free.explain(), deferred.explain());
  EXPECT_EQ(
      dense.explain(),
      "layer 0: reference.1; stored as t4\nlayer 1: blocks.1\n");
  // What was permitted is no matter of stored bits; what was chosen is.
  EXPECT_FALSE(free.signature().difference(deferred.signature()).has_value());
  const auto differs = free.signature().difference(dense.signature());
  ASSERT_TRUE(differs.has_value());
  EXPECT_EQ(*differs, "layer 0 read: expected blocks.1, got reference.1");
}

TEST(ReadChoice, OfTurboIsDenseOrDeferredForALayerAndForOneOverIt) {
  const Sequence sequence(150, 1);
  const auto deferred = run_both(turbo_and_donor({}, {}), sequence, true);
  const auto dense =
      run_both(turbo_and_donor({"reference.1"}, {}), sequence, true);
  EXPECT_FALSE(test::same_bits(deferred, dense));
  EXPECT_LT(test::worst_difference(deferred, dense), 0.03f); // |v| to 4
  // The layer over it reads the same either way, whatever its donor does.
  const auto over =
      run_both(turbo_and_donor({}, {"reference.1"}), sequence, false);
  EXPECT_LT(test::worst_difference(over, dense), 1e-5f);
  EXPECT_TRUE(test::same_bits(
      run_both(turbo_and_donor({"reference.1"}, {"blocks.1"}), sequence, false),
      deferred));
}

TEST(ReadChoice, RefusesByNameASchemeThatNoPermittedReadCovers) {
  test::Failing codec;
  StateOptions options = test::options();
  options.precision.layers[1] = options.precision.phases;
  options.precision.layers[1].push_back(
      {.keys = options.precision.phases[0].keys,
       .values = &codec,
       .start = Position(64)});
  EXPECT_NE(
      State(options).explain().find("layer 1: reference.1; not blocks.1"),
      std::string::npos);
  std::get<AttentionSpec>(options.layers[1]).reads = {"blocks.1"};
  const std::string text =
      expect_error(ErrorCode::kUnsupported, [&] { State state(options); });
  EXPECT_EQ(
      text,
      "[attend] expected a read of layer 1, stored as bf16, then bf16/failing, "
      "among those that it permits (blocks.1), got none; not blocks.1: "
      "[append_and_attend] expected a dense, affine or turbo codec, got "
      "failing");
}

TEST(ReadChoice, RefusesTheReferenceWhereItWasAskedForAndIsNotPermitted) {
  StateOptions options = turbo_and_donor({}, {"blocks.1"});
  options.reference_read = true;
  const std::string text =
      expect_error(ErrorCode::kUnsupported, [&] { State state(options); });
  EXPECT_NE(text.find("layer 1, stored as t4"), std::string::npos) << text;
  EXPECT_NE(text.find("the reference read was asked for"), std::string::npos)
      << text;
  options = turbo_and_donor({"blocks.1", "reference.1"}, {});
  options.reference_read = true;
  EXPECT_EQ(
      State(options).explain(),
      "layer 0: reference.1 (asked for); stored as t4\n"
      "layer 1: reference.1 (asked for)\n");
}

TEST(ReadChoice, RefusesANameOfNoReadOfTheLayersKind) {
  for (const char* name : {"blocks", "latent.1", ""}) {
    const std::string text = expect_error(ErrorCode::kInvalidArgument, [&] {
      State state(turbo_and_donor({"blocks.1", name}, {}));
    });
    EXPECT_EQ(
        text,
        std::string("[attend] expected layer 0 to name reads among blocks.1, "
                    "reference.1, got ") +
            name);
  }
}

} // namespace
} // namespace holdfast
