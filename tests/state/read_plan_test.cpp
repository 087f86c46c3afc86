// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// How a step's rows are cut into work, what they share included, is worked out
// once for all layers that are alike in what it follows from.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "holdfast/attend/kernel_read.h"
#include "holdfast/env/pages.h"
#include "holdfast/kernels/cpu/attend.h"
#include "tests/kernels/attend_setup.h"

namespace holdfast {
namespace {

constexpr int64_t kStart = 9 * kBlockTokens + 5;
constexpr int64_t kShared = 9; // leading blocks
constexpr int64_t kHeads = 4;
constexpr int64_t kDim = 64;

/// Two rows of one group, and the arrays of a step of one token each.
struct Rig {
  explicit Rig(const std::vector<AttentionSpec>& specs)
      : runtime{std::make_shared<Executor>(2), best_kernel_path()},
        groups(states(specs)),
        run(std::make_shared<const StepPlan>(make_plan()), std::ssize(specs)) {
    for (int64_t i = 0; i < std::ssize(specs); ++i) {
      const LayerPlace place = groups.place(LayerIndex(i));
      layers.push_back(
          {.spec = specs[static_cast<size_t>(i)],
           .phases = groups.group(place.group).phases,
           .layer = i,
           .group = place.group,
           .layer_in_group = place.layer,
           .runtime = runtime});
    }
    for (auto* array : {&q, &k, &v}) {
      for (int64_t i = 0; i < 2 * kHeads * kDim; ++i) {
        array->push_back(cpu::random_value(7, array->size(), array == &q));
      }
    }
  }

  static std::vector<LayerState>
  states(const std::vector<AttentionSpec>& specs) {
    std::vector<LayerState> result;
    for (const AttentionSpec& spec : specs) {
      const Codec* codec = &cpu::codec_named("bf16");
      result.push_back(
          {.attention = spec, .phases = {{.keys = codec, .values = codec}}});
    }
    return result;
  }

  StepPlan make_plan() {
    StepPlan plan;
    plan.generation = 1;
    plan.tokens = 2;
    for (int64_t row = 0; row < 2; ++row) {
      plan.rows.push_back({.first_token = row, .count = 1, .start = kStart});
      plan.positions.push_back(kStart);
    }
    for (const Bytes size : groups.image_bytes()) {
      std::vector<RowBlocks> rows(2);
      for (int64_t b = 0; b <= kShared; ++b) {
        for (RowBlocks& row : rows) {
          const bool first = &row == &rows[0];
          row.images.push_back(
              b < kShared && !first ? rows[0].images[static_cast<size_t>(b)]
                                    : fresh(size.get()));
        }
      }
      plan.groups.push_back(rows);
      plan.mixed.emplace_back();
    }
    return plan;
  }

  /// An image of small bf16 numbers.
  std::byte* fresh(int64_t size) {
    std::byte* image = images.emplace_back(allocate_pages(size)).get();
    for (int64_t i = 0; i + 2 <= size; i += 2) {
      drawn = drawn * 5 + 3;
      const auto value = static_cast<uint16_t>(0x3d00 + drawn % 512);
      std::memcpy(image + i, &value, sizeof value);
    }
    return image;
  }

  std::vector<float> attend(size_t layer) {
    std::vector<float> out(q.size());
    const bool own = !layers[layer].spec.donor;
    dynamic_cast<const KernelRead&>(block_read())
        .task(
            layers[layer],
            run,
            {.q = q.data(),
             .k = own ? k.data() : nullptr,
             .v = own ? v.data() : nullptr,
             .out = out.data()})();
    return out;
  }
  /// By a plan of its own.
  std::vector<float> attend_alone(size_t layer) {
    std::vector<float> out(q.size());
    const LayerRead& read = layers[layer];
    cpu::append_and_attend(
        {.spec = &read.spec,
         .keys = read.phases[0].keys,
         .values = read.phases[0].values,
         .layout = &read.phases[0].layout,
         .layer = read.layer_in_group,
         .rows = run.plan().rows,
         .blocks = run.plan().groups[static_cast<size_t>(read.group)],
         .q = q.data(),
         .k = read.spec.donor ? nullptr : k.data(),
         .v = read.spec.donor ? nullptr : v.data(),
         .out = out.data()},
        *runtime.executor,
        runtime.path);
    return out;
  }

  Runtime runtime;
  LayerGroups groups;
  std::vector<std::shared_ptr<std::byte>> images;
  uint32_t drawn = 1;
  StepRun run;
  std::vector<LayerRead> layers;
  std::vector<float> q, k, v;
};

TEST(ReadPlan, IsMadeOnceAGroupForLayersThatAreAlike) {
  AttentionSpec full = cpu::small_spec(kHeads, kHeads, kDim);
  AttentionSpec capped = full;
  capped.softcap = 20.0f;
  AttentionSpec sliding = full;
  sliding.visibility.window = 300;
  Rig rig({full, full, sliding, capped, sliding});
  ASSERT_EQ(rig.groups.size(), 2);
  const size_t expected[] = {1, 1, 2, 2, 2};
  for (size_t layer = 0; layer < std::size(expected); ++layer) {
    const std::vector<float> planned = rig.attend(layer);
    EXPECT_EQ(rig.run.memo().size(), expected[layer]);
    EXPECT_EQ(planned, rig.attend_alone(layer));
    EXPECT_TRUE(std::any_of(
        planned.begin(), planned.end(), [](float x) { return x != 0.0f; }));
  }
}

TEST(ReadPlan, IsAnotherForALayerThatSeesLessOfItsDonor) {
  AttentionSpec full = cpu::small_spec(kHeads, kHeads, kDim);
  AttentionSpec donor = full;
  donor.donor = LayerIndex(0);
  AttentionSpec narrow = donor;
  narrow.visibility.window = 100;
  Rig rig({full, donor, narrow});
  ASSERT_EQ(rig.groups.size(), 1);
  const size_t expected[] = {1, 1, 2};
  for (size_t layer = 0; layer < std::size(expected); ++layer) {
    const std::vector<float> planned = rig.attend(layer);
    EXPECT_EQ(rig.run.memo().size(), expected[layer]);
    EXPECT_EQ(planned, rig.attend_alone(layer));
  }
}

} // namespace
} // namespace holdfast
