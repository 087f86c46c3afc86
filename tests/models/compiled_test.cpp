// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// A compiled model gives the bits of the plain one, over every change that a
// row goes through.

#include <numeric>
#include <optional>
#include <set>

#include <gtest/gtest.h>

#include "mlx/mlx.h"

#include "holdfast/base/check.h"
#include "holdfast/models/compiled.h"
#include "holdfast/state/state.h"
#include "tests/models/folder_rig.h"
#include "tests/models/random_source.h"

namespace holdfast {
namespace {

namespace mx = mlx::core;

std::vector<float>
run(const Model& model,
    State& state,
    const std::vector<RowAppend>& rows,
    const std::vector<int32_t>& tokens) {
  std::vector<int32_t> outputs(tokens.size());
  std::iota(outputs.begin(), outputs.end(), 0);
  Step step = state.begin(rows);
  auto logits = *model.forward(step, tokens, outputs);
  mx::eval({logits});
  step.commit_all();
  return {logits.data<float>(), logits.data<float>() + logits.size()};
}

struct Rig {
  explicit Rig(bool reference = false)
      : runtime{std::make_shared<Executor>(2), best_kernel_path()},
        source(
            test::small_gemma3(),
            {cpu::WeightFormat::Kind::kCodes, 4, 32, true},
            *runtime.executor),
        model(make_model(source, runtime)),
        state(options(reference)) {}

  StateOptions options(bool reference) const {
    const Codec* bf16 = find_codec("bf16").value();
    const Codec* q8 = find_codec("q8").value();
    return {
        .layers = model->layers(),
        .precision =
            {.phases =
                 {{.keys = bf16, .values = bf16, .start = Position(0)},
                  {.keys = q8, .values = q8, .start = Position(70)}}},
        .runtime = runtime,
        .reference_read = reference};
  }

  Runtime runtime;
  test::RandomSource source;
  std::unique_ptr<Model> model;
  State state;
};

TEST(Compiled, EqualsThePlainStepOverThresholdsBlocksWindowsAndNeighbours) {
  Rig rig;
  const CompiledModel compiled(*rig.model);
  std::vector<RowId> rows;
  for (int i = 0; i < 4; ++i) { // two plain, the same two compiled
    rows.push_back(rig.state.add_row());
  }
  const auto both = [&](const std::vector<size_t>& of, int32_t token) {
    std::vector<RowAppend> plain;
    std::vector<RowAppend> replayed;
    std::vector<int32_t> tokens;
    for (const size_t row : of) {
      plain.push_back({rows[row], 1});
      replayed.push_back({rows[row + 2], 1});
      tokens.push_back((token + static_cast<int32_t>(row) * 7) % 300);
    }
    EXPECT_EQ(
        run(*rig.model, rig.state, plain, tokens),
        run(compiled, rig.state, replayed, tokens))
        << "token " << token;
  };
  for (int32_t t = 0; t < 140; ++t) { // past 64, 70 and 128
    both({0}, t);
    if (t % 2 == 0) {
      both({0, 1}, t); // rows of different phases in between
    }
  }
  EXPECT_EQ(compiled.traces(), 2); // one row, two rows
}

TEST(Compiled, TakesSixOperationsALayer) {
  Rig rig;
  const CompiledModel compiled(*rig.model);
  const RowId row = rig.state.add_row();
  run(compiled, rig.state, {{row, 1}}, {5});
  // And one for the embedding, one for the logits.
  EXPECT_EQ(compiled.primitives(1), 6 * rig.model->config().layers + 2);
}

TEST(Compiled, CrossesTheWindowFloorWithTheBitsOfThePlainStep) {
  Rig rig; // windows of 24 positions in six of seven layers
  const CompiledModel compiled(*rig.model);
  const RowId plain = rig.state.add_row();
  const RowId replayed = rig.state.add_row();
  const auto both = [&](const std::vector<int32_t>& tokens) {
    const auto count = static_cast<int64_t>(tokens.size());
    ASSERT_EQ(
        run(*rig.model, rig.state, {{plain, count}}, tokens),
        run(compiled, rig.state, {{replayed, count}}, tokens))
        << "position " << rig.state.length(replayed).get();
  };
  std::set<Position> floors;
  for (int32_t t = 0; rig.state.length(replayed) < Position(170); ++t) {
    const bool one = t % 5 != 0;
    both(one ? std::vector{t % 300} : std::vector{1, t % 300, 2});
    floors.insert(rig.state.reusable_floor(replayed));
    ASSERT_EQ(
        rig.state.reusable_floor(plain), rig.state.reusable_floor(replayed));
  }
  // All is reusable; then what was converted at 70; then two blocks go.
  const std::set<Position> expected{
      Position(0), Position(70), Position(64 + 23), Position(128 + 23)};
  EXPECT_EQ(floors, expected);
  EXPECT_EQ(compiled.traces(), 2); // one token, three
}

TEST(Compiled, TakesAsManyOperationsALayerAsTheDocsSayOfEachFamily) {
  const auto operations = [](const char* name) {
    test::FolderRig rig(name);
    const CompiledModel compiled(*rig.model);
    run(compiled, rig.state, {{rig.state.add_row(), 1}}, {5});
    return compiled.primitives(1);
  };
  // Three recurrent layers, one of gated attention; embedding and logits.
  EXPECT_EQ(operations("qwen35"), 3 * 5 + 7 + 2);
  // A layer's scalar and the caps of the logits are MLX's operations, each with
  // a broadcast; extra inputs are six a layer, and ten before the first.
  EXPECT_EQ(operations("gemma4_wide"), 3 * (6 + 2) + 2 + 5);
  EXPECT_EQ(operations("gemma4"), 7 * (6 + 2 + 6) + 10 + 2 + 5);
  // Slices, copies and concatenations around the two parts of a key.
  EXPECT_EQ(operations("latent"), 2 * 27 + 2);
  EXPECT_EQ(operations("llama_biased"), 3 * 6 + 2);
  EXPECT_EQ(operations("phi3"), 3 * 6 + 2);
  // A router and its experts take the places of gate and up, and down.
  EXPECT_EQ(operations("gpt_oss"), 2 * 6 + 2);
}

TEST(Compiled, ServesSiblingsAndDraftsAndRollsBack) {
  Rig rig;
  const CompiledModel compiled(*rig.model);
  State sibling = rig.state.sibling();
  const RowId row = rig.state.add_row();
  const RowId other = sibling.add_row();
  const RowAppend draft{other, 3};
  run(compiled, rig.state, {{row, 3}}, {1, 2, 3});
  {
    Step step = sibling.begin({&draft, 1});
    const std::vector<int32_t> wrong{9, 9, 9};
    const std::vector<int32_t> outputs{0, 1, 2};
    auto logits = *compiled.forward(step, wrong, outputs);
    mx::eval({logits});
  }
  EXPECT_EQ(sibling.length(other), Position(0));
  EXPECT_EQ(
      run(compiled, sibling, {draft}, {4, 5, 6}),
      run(*rig.model, rig.state, {{rig.state.add_row(), 3}}, {4, 5, 6}));
  EXPECT_EQ(compiled.traces(), 1);
}

TEST(Compiled, AnArrayOfAnEndedStepIsRefusedThoughItsGraphIsInUse) {
  Rig rig;
  const CompiledModel compiled(*rig.model);
  const RowId row = rig.state.add_row();
  const RowAppend append{row, 1};
  const std::vector<int32_t> token{5};
  const std::vector<int32_t> outputs{0};
  run(compiled, rig.state, {append}, {3});
  std::optional<mx::array> late;
  {
    Step step = rig.state.begin({&append, 1});
    late = compiled.forward(step, token, outputs);
  }
  Step step = rig.state.begin({&append, 1});
  auto logits = *compiled.forward(step, token, outputs);
  try {
    mx::eval({*late});
    ADD_FAILURE() << "expected a refusal";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kStale);
  }
  mx::eval({logits});
  step.commit_all();
  EXPECT_EQ(rig.state.length(row), Position(2));
}

TEST(Compiled, RefusesTheReferenceReadWithAReason) {
  Rig rig(true);
  const CompiledModel compiled(*rig.model);
  const RowId row = rig.state.add_row();
  try {
    run(compiled, rig.state, {{row, 1}}, {5});
    ADD_FAILURE() << "expected a refusal";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kUnsupported);
    EXPECT_NE(
        std::string(error.what()).find("reference read"), std::string::npos);
  }
  EXPECT_EQ(rig.state.length(row), Position(0));
}

TEST(Compiled, EqualsThePlainStepOfEveryFamily) {
  for (const char* name : {"qwen35", "gemma4", "latent"}) {
    test::FolderRig rig(name);
    const CompiledModel compiled(*rig.model);
    const RowId plain = rig.state.add_row();
    const RowId replayed = rig.state.add_row();
    for (int32_t t = 0; t < 70; ++t) {
      const std::vector<int32_t> token{t % 50};
      ASSERT_EQ(
          run(*rig.model, rig.state, {{plain, 1}}, token),
          run(compiled, rig.state, {{replayed, 1}}, token))
          << name << ", token " << t;
    }
    EXPECT_EQ(compiled.traces(), 1) << name;
  }
}

} // namespace
} // namespace holdfast
