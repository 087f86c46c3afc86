// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "holdfast/state/snapshot.h"

#include <numeric>
#include <optional>

#include "tests/state/layers.h"

namespace holdfast {
namespace {

using namespace test;
using Ids = std::vector<RowId>;

std::vector<int32_t> tokens(int64_t count) {
  std::vector<int32_t> result(count);
  std::iota(result.begin(), result.end(), 100);
  return result;
}

std::vector<float> tail_of(const std::vector<float>& all, int64_t first) {
  return {all.begin() + first * kHeads * kDim, all.end()};
}

StateOptions changing(int64_t start) {
  StateOptions result = options();
  result.precision.phases.push_back(
      {.keys = find_codec("q4").value(),
       .values = find_codec("t3").value(),
       .start = Position(start)});
  return result;
}

TEST(Snapshot, GoesOnWithTheSameBitsInAnyBatchOfItsSignature) {
  const Sequence a(160, 71);
  for (const int64_t length : {1, 64, 70, 100, 130}) {
    State state(options());
    const auto want =
        tail_of(run_alone(state, a, {length, 160 - length}), length);
    const RowId row = state.add_row();
    append_to(state, row, {&a, 0, length});
    const Snapshot snapshot = state.snapshot(row, tokens(length));
    EXPECT_EQ(std::ssize(snapshot.tokens()), length);
    State stranger(options()); // a pool of its own
    State beside = state.sibling();
    for (State* into : {&state, &beside, &stranger}) {
      const RowId adopted = into->adopt(snapshot);
      EXPECT_EQ(into->length(adopted), Position(length));
      EXPECT_TRUE(same_bits(
          append_to(*into, adopted, {&a, length, 160 - length}), want))
          << length;
    }
  }
}

TEST(Snapshot, SurvivesWhateverHappensToItsRowAndItsState) {
  const Sequence a(160, 72);
  const Sequence other(160, 73);
  std::optional<State> state(std::in_place, options());
  const auto want = tail_of(run_alone(*state, a, {100, 60}), 100);
  const RowId row = state->add_row();
  append_to(*state, row, {&a, 0, 100});
  const Snapshot snapshot = state->snapshot(row, tokens(100));
  const Snapshot copy = snapshot;
  append_to(*state, row, {&other, 0, 20}); // into the tail
  state->trim(row, Position(110));
  append_to(*state, row, {&other, 20, 40});
  state->filter(Ids{});
  EXPECT_EQ(state->bytes(), snapshot.bytes()); // nothing else
  state.reset();
  State later(options());
  const RowId adopted = later.adopt(copy);
  EXPECT_TRUE(same_bits(append_to(later, adopted, {&a, 100, 60}), want));
  const RowId again = later.adopt(snapshot);
  EXPECT_TRUE(same_bits(append_to(later, again, {&a, 100, 60}), want));
}

TEST(Snapshot, CostsItsTailAndAdoptingItCostsNothing) {
  const Sequence a(128, 74);
  State state(options());
  const RowId row = state.add_row();
  append_to(state, row, {&a, 0, 128});
  const Bytes images = state.bytes();
  const Snapshot whole = state.snapshot(row, tokens(128));
  const Bytes before = state.bytes();
  EXPECT_EQ(before, images + Bytes(4 * 128)); // its tokens
  const RowId adopted = state.adopt(whole);
  EXPECT_EQ(state.bytes(), before);
  EXPECT_EQ(whole.bytes(), state.retained_bytes(row) + Bytes(4 * 128));
  state.remove_row(row);
  state.remove_row(adopted);
  EXPECT_EQ(state.bytes(), before);
}

// A snapshot filed under another number of tokens than it holds.
TEST(Snapshot, RefusesAnotherNumberOfTokensThanPositions) {
  const Sequence a(64, 75);
  State state(options());
  const RowId row = state.add_row();
  append_to(state, row, {&a, 0, 64});
  for (const int64_t count : {0, 63, 65}) {
    expect_error(ErrorCode::kInvalidArgument, [&] {
      state.snapshot(row, tokens(count));
    });
  }
  state.snapshot(row, tokens(64));
}

// Room is made by taking it from others, so it is not asked for in vain.
TEST(Snapshot, ThatIsRefusedAsksNobodyForRoom) {
  const Sequence a(64, 75);
  StateOptions full = options();
  {
    State measured(full);
    const RowId row = measured.add_row();
    append_to(measured, row, {&a, 0, 40});
    full.max_bytes = measured.bytes();
  }
  State state(full);
  int asked = 0;
  state.set_reclaimer([&](Bytes) { ++asked; });
  const RowId row = state.add_row();
  append_to(state, row, {&a, 0, 40});
  const RowId gone = state.add_row();
  state.remove_row(gone);
  asked = 0;
  expect_error(
      ErrorCode::kInvalidArgument, [&] { state.snapshot(row, tokens(39)); });
  expect_error(ErrorCode::kNotFound, [&] { state.snapshot(gone, tokens(40)); });
  expect_error(ErrorCode::kInvalidArgument, [&] {
    state.assemble(tokens(39), {Position(40), {0, 0}}, {});
  });
  {
    const RowId other = state.add_row();
    state.remove_row(row);
    const RowAppend append{other, 40};
    const Step step = state.begin({&append, 1});
    asked = 0;
    expect_error(
        ErrorCode::kInvalidArgument, [&] { state.snapshot(other, tokens(0)); });
  }
  EXPECT_EQ(asked, 0);
  const RowId again = state.add_row();
  append_to(state, again, {&a, 0, 40});
  expect_error(
      ErrorCode::kOutOfBudget, [&] { state.snapshot(again, tokens(40)); });
  EXPECT_GT(asked, 0);
}

TEST(Snapshot, NamesTheFieldInWhichSignaturesDiffer) {
  const Sequence a(64, 76);
  State state(options());
  const RowId row = state.add_row();
  append_to(state, row, {&a, 0, 64});
  const Snapshot snapshot = state.snapshot(row, tokens(64));
  const auto refused = [&](StateOptions with, const char* field) {
    State other(std::move(with));
    const std::string text =
        expect_error(ErrorCode::kUnsupported, [&] { other.adopt(snapshot); });
    EXPECT_NE(text.find(field), std::string::npos) << text;
    EXPECT_TRUE(other.rows().empty());
    EXPECT_EQ(other.bytes(), Bytes(0));
  };
  StateOptions with = options();
  with.identity = {{"weights", "others"}};
  refused(with, "weights: expected others");
  with = options();
  with.reference_read = true;
  refused(with, "layer 0 read: expected reference.1, got blocks.1");
  with = options();
  with.runtime.path = KernelPath::kPlain;
  if (best_kernel_path() != KernelPath::kPlain) {
    refused(with, "kernels: expected plain");
  }
  refused(options("f16"), "layer 0 storage: expected dense.f16.1");
  refused(changing(64), "layer 0 storage");
  with = options();
  with.precision.layers[2] =
      always(find_codec("q8").value(), find_codec("q8").value());
  refused(with, "layer 2 storage");
  const auto attention = [&](const auto& change) {
    StateOptions changed = options();
    change(std::get<AttentionSpec>(changed.layers[1]));
    refused(changed, "layer 1 attention");
  };
  attention([](AttentionSpec& spec) { spec.visibility.window = 21; });
  attention([](AttentionSpec& spec) { spec.visibility.sinks = 1; });
  attention([](AttentionSpec& spec) { spec.softcap = 30; });
  attention([](AttentionSpec& spec) { spec.scale = 0.1250001f; });
  attention([](AttentionSpec& spec) { spec.sink_logits = {0, 0, 0, 1}; });
  with = options();
  with.layers.pop_back();
  refused(with, "layer 2 attention: expected no such field");
}

// A threshold travels with a snapshot, as everything stored later.
TEST(Snapshot, KeepsThePrecisionFloorOfItsRow) {
  const Sequence a(160, 77);
  State state(changing(100));
  const RowId row = state.add_row();
  append_to(state, row, {&a, 0, 100});
  const Snapshot dense = state.snapshot(row, tokens(100));
  append_to(state, row, {&a, 100, 20});
  const Snapshot encoded = state.snapshot(row, tokens(120));
  EXPECT_EQ(dense.reusable_floor(), Position(64 + 19)); // the windows'
  EXPECT_EQ(encoded.reusable_floor(), Position(100));
  const RowId from_dense = state.adopt(dense);
  state.trim(from_dense, Position(90));
  const RowId from_encoded = state.adopt(encoded);
  expect_error(
      ErrorCode::kUnsupported, [&] { state.trim(from_encoded, Position(99)); });
  const auto want = append_to(state, row, {&a, 120, 40});
  EXPECT_TRUE(same_bits(append_to(state, from_encoded, {&a, 120, 40}), want));
  const RowId again = state.adopt(dense);
  append_to(state, again, {&a, 100, 20});
  EXPECT_TRUE(same_bits(append_to(state, again, {&a, 120, 40}), want));
}

TEST(Snapshot, RefusedOverTheBudgetChangesNothing) {
  const Sequence a(70, 78);
  State probe(options());
  run_alone(probe, a, {70});
  StateOptions small = options();
  small.max_bytes = probe.bytes();
  State state(small);
  const RowId row = state.add_row();
  append_to(state, row, {&a, 0, 70});
  const Bytes before = state.bytes();
  expect_error(
      ErrorCode::kOutOfBudget, [&] { state.snapshot(row, tokens(70)); });
  EXPECT_EQ(state.bytes(), before);
  State other(options());
  const RowId same = other.add_row();
  append_to(other, same, {&a, 0, 70});
  const Snapshot foreign = other.snapshot(same, tokens(70));
  expect_error(ErrorCode::kOutOfBudget, [&] { state.adopt(foreign); });
  state.trim(row, Position(64)); // no tail
  Attachment large{.name = "large", .schema = "bytes.1"};
  large.arrays.push_back(settle("zeros", mx::zeros({1 << 20})));
  expect_error(ErrorCode::kOutOfBudget, [&] {
    state.snapshot(row, tokens(64), {large});
  });
  state.snapshot(row, tokens(64));
  EXPECT_EQ(state.rows().size(), 1u);
}

TEST(Snapshot, CarriesAttachmentsThatNothingElseShares) {
  const Sequence a(10, 79);
  State state(options());
  const RowId row = state.add_row();
  append_to(state, row, {&a, 0, 10});
  auto parent = mx::arange(0, 1000, mx::float32);
  const auto slice =
      mx::slice(mx::reshape(parent, {10, 100}), {2, 50}, {4, 52});
  Attachment features{
      .name = "image 0",
      .schema = "encoder-features.1",
      .metadata = {{"digest", "abc"}},
      .arrays = {settle("features", slice)}};
  features.arrays.push_back(
      settle("half", mx::astype(mx::array({1.0f, 2.0f}), mx::bfloat16)));
  const Bytes before = state.bytes();
  std::optional<Snapshot> held(
      std::in_place, state.snapshot(row, tokens(10), {features}));
  const Snapshot& snapshot = *held;
  EXPECT_EQ(state.bytes() - before, snapshot.bytes()); // a tail, and these
  ASSERT_EQ(snapshot.attachments().size(), 1u);
  const Attachment& got = snapshot.attachments()[0];
  EXPECT_EQ(got.metadata.at("digest"), "abc");
  EXPECT_EQ(got.arrays[0].shape, (std::vector<int32_t>{2, 2}));
  const int64_t names = 7 + 18 + 6 + 3 + 8 + 4; // as they stand above
  const int64_t shapes = 4 * (2 + 1);
  EXPECT_EQ(got.bytes(), Bytes(names + shapes + 4 * 4 + 2 * 2)); // no parent
  EXPECT_EQ(
      snapshot.bytes(),
      state.retained_bytes(row) + got.bytes() + Bytes(4 * 10));
  const auto back = got.arrays[0].array();
  EXPECT_EQ(back.data<float>()[0], 250.0f);
  EXPECT_EQ(back.data<float>()[3], 351.0f);
  EXPECT_EQ(got.arrays[1].array().dtype(), mx::bfloat16);
  held.reset();
  EXPECT_EQ(state.bytes(), before);
}

TEST(Snapshot, RefusesAnAttachedArrayWithOtherBytesThanItsShape) {
  const std::vector<std::byte> eight(8);
  const auto array = [&](std::vector<int32_t> shape, auto bytes) {
    return AttachedArray{"a", mx::float32, std::move(shape), std::move(bytes)};
  };
  EXPECT_EQ(array({1, 2}, eight).array().shape(), (mx::Shape{1, 2}));
  EXPECT_EQ(array({0, 2}, std::vector<std::byte>()).array().size(), 0u);
  EXPECT_EQ(array({}, std::vector<std::byte>(4)).array().size(), 1u);
  const int32_t large = 1 << 30;
  for (const std::vector<int32_t>& shape : std::vector<std::vector<int32_t>>{
           {}, {1}, {3}, {0}, {0, -2}, {-2}, {-1, -2}, {large, large, 16, 2}}) {
    expect_error(
        ErrorCode::kInvalidArgument, [&] { array(shape, eight).array(); });
  }
  expect_error(ErrorCode::kInvalidArgument, [&] {
    array({2}, std::vector<std::byte>(9)).array();
  });
}

} // namespace
} // namespace holdfast
