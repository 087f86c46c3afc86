// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// A layer at work on the stream while the engine thread goes on: neither takes
// the other's memory away, nor reads what is half written.

#include <chrono>
#include <cstdlib>
#include <functional>
#include <thread>

#include "tests/state/failing_codec.h"
#include "tests/state/layers.h"

namespace holdfast {
namespace {

using namespace test;

// A codec of which one call takes its time when it is told to.
class Slow : public Failing {
 public:
  enum class Call { kNone, kEncode, kDecode };

  void encode(
      ChannelRole role,
      std::span<const float> vector,
      int64_t slot,
      std::span<std::byte* const> planes) const override {
    work(Call::kEncode);
    Failing::encode(role, vector, slot, planes);
  }
  void decode(
      ChannelRole role,
      std::span<const std::byte* const> planes,
      int64_t slot,
      std::span<float> vector) const override {
    if (at_work_) {
      met_ = true;
    }
    work(Call::kDecode);
    Failing::decode(role, planes, slot, vector);
  }

  // The next call of that kind takes 50 ms, and then calls `after`.
  void slow_down(
      Call call,
      std::function<void()> after = [] {}) {
    after_ = std::move(after);
    slow_ = call;
  }
  void wait_for_it() const {
    while (!begun_) {
      std::this_thread::yield();
    }
  }
  // Something was decoded while that call was at work.
  bool met() const {
    return met_;
  }

 private:
  void work(Call call) const {
    Call of = call;
    if (slow_.compare_exchange_strong(of, Call::kNone)) {
      at_work_ = true;
      begun_ = true;
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      after_();
      at_work_ = false;
    }
  }

  std::function<void()> after_;
  mutable std::atomic<Call> slow_{Call::kNone};
  mutable std::atomic<bool> at_work_{false};
  mutable std::atomic<bool> begun_{false};
  mutable std::atomic<bool> met_{false};
};

// One layer with a window, one that reads it, and a full one.
StateOptions with_reader(const Codec& codec) {
  StateOptions result = options();
  result.precision.phases = always(&codec, &codec);
  std::swap(result.layers[0], result.layers[1]);
  std::swap(result.layers[1], result.layers[2]);
  std::get<AttentionSpec>(result.layers[1]) =
      std::get<AttentionSpec>(result.layers[0]);
  std::get<AttentionSpec>(result.layers[1]).donor = LayerIndex(0);
  return result;
}

// The row's content in images that say when they are let go.
RowId adopt_watched(
    State& state,
    const Snapshot& snapshot,
    std::atomic<bool>& let_go) {
  const auto watched = [&](const BlockRef& block) {
    const auto bytes = static_cast<size_t>(block.bytes().get());
    void* memory = std::aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
    std::memcpy(memory, block.image(), bytes);
    return std::shared_ptr<const std::byte>(
        static_cast<const std::byte*>(memory), [&let_go](const std::byte* at) {
          let_go = true;
          std::free(const_cast<std::byte*>(at));
        });
  };
  std::vector<std::vector<BlockRef>> held;
  const CapturedRow& row = snapshot.row();
  for (size_t group = 0; group < row.blocks.size(); ++group) {
    held.emplace_back();
    for (const BlockRef& block : row.blocks[group]) {
      if (block) {
        held.back().push_back(
            state.adopt_image(static_cast<int64_t>(group), 0, watched(block)));
      }
    }
  }
  return state.adopt(state.assemble(
      snapshot.tokens(),
      {.committed = Position(std::ssize(snapshot.tokens())),
       .phases = std::vector<int64_t>(held.size(), 0)},
      held));
}

TEST(AtWork, ACommitLetsNoBlockGoUnderALayerThatReadsIt) {
  const Sequence sequence(110, 61);
  Slow codec;
  State state(with_reader(codec));
  const RowId first = state.add_row();
  const auto attend = [&](Step& step, int64_t layer, int64_t from, int64_t n) {
    const std::vector<Part> parts{{&sequence, from, n}};
    return step.attend(
        LayerIndex(layer),
        gather(parts, &Sequence::q, kHeads),
        gather(parts, &Sequence::k, kKvHeads),
        gather(parts, &Sequence::v, kKvHeads));
  };
  {
    const RowAppend append{first, 70};
    Step step = state.begin({&append, 1});
    mx::eval({attend(step, 0, 0, 70), attend(step, 2, 0, 70)});
    step.commit_all();
  }
  std::atomic<bool> let_go{false};
  const std::vector<int32_t> tokens(70, 1);
  const RowId row = adopt_watched(state, state.snapshot(first, tokens), let_go);
  ASSERT_FALSE(let_go);
  std::atomic<bool> under_work{false};
  const RowAppend append{row, 40};
  Step step = state.begin({&append, 1});
  auto own = attend(step, 0, 70, 40);
  auto read = step.attend_donor(
      LayerIndex(1), gather({{&sequence, 70, 40}}, &Sequence::q, kHeads));
  auto last = attend(step, 2, 70, 40); // does not depend on the reader
  mx::eval({own, last});
  let_go = false;
  codec.slow_down(Slow::Call::kDecode, [&] { under_work = let_go.load(); });
  mx::async_eval({read});
  codec.wait_for_it();
  step.commit_all(); // the window lets the first block go
  EXPECT_TRUE(let_go);
  EXPECT_FALSE(under_work);
  EXPECT_EQ(state.length(row), Position(110));
  EXPECT_TRUE(same_bits(
      state.fetch(row, LayerIndex(2)).keys,
      {sequence.k.begin(), sequence.k.begin() + 110 * kKvHeads * kDim}));
}

TEST(AtWork, AFetchReadsNothingBesideALayerThatWrites) {
  const Sequence sequence(90, 62);
  Slow codec;
  StateOptions with = options();
  with.precision.phases = always(&codec, &codec);
  State state(with);
  const RowId row = state.add_row();
  append_to(state, row, {&sequence, 0, 70});
  const FetchedChannels before = state.fetch(row, LayerIndex(0));
  const RowAppend append{row, 20};
  Step step = state.begin({&append, 1});
  const std::vector<Part> parts{{&sequence, 70, 20}};
  auto x = gather(parts, &Sequence::q, kHeads);
  const auto k = gather(parts, &Sequence::k, kKvHeads);
  const auto v = gather(parts, &Sequence::v, kKvHeads);
  x = step.attend(LayerIndex(0), x, k, v);
  codec.slow_down(Slow::Call::kEncode);
  mx::async_eval({x}); // more of them, and MLX waits for the first
  codec.wait_for_it();
  const FetchedChannels within = state.fetch(row, LayerIndex(0));
  EXPECT_FALSE(codec.met());
  EXPECT_EQ(within.positions, before.positions);
  EXPECT_EQ(within.keys, before.keys);
  EXPECT_EQ(within.values, before.values);
  x = step.attend(LayerIndex(1), x, k, v);
  x = step.attend(LayerIndex(2), x, k, v);
  step.commit_all();
  EXPECT_EQ(state.length(row), Position(90));
}

} // namespace
} // namespace holdfast
