// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// What a recorded step takes for constant: what was named, and nothing that
// came of the step itself.

#include "holdfast/state/step_graph.h"

#include <functional>
#include <optional>

#include "tests/state/layers.h"

namespace holdfast {
namespace {

using namespace test;

constexpr int64_t kVocabulary = 40;
constexpr int64_t kTokens = 3;

using Ids = std::vector<int32_t>;

// A small model: queries of tokens and positions, keys and values of tokens.
struct Small {
  Small()
      : sequence(kVocabulary, 71),
        tables{
            gather(all(), &Sequence::q, kHeads),
            gather(all(), &Sequence::k, kKvHeads),
            gather(all(), &Sequence::v, kKvHeads)},
        state(options()) {}
  std::vector<Part> all() const {
    return {{&sequence, 0, kVocabulary}};
  }

  // on_the_way: what the model does with the positions as numbers, and with the
  // embedding, before it goes on.
  mx::array forward(
      Step& step,
      const Ids& ids,
      const std::function<void(mx::array&, mx::array&)>& on_the_way) const {
    const auto s = step.stream();
    const auto tokens = step.token_ids(ids);
    auto shift = mx::reshape(
        mx::astype(step.positions(), mx::float32, s),
        {static_cast<int>(ids.size()), 1, 1},
        s);
    auto x = mx::take(tables[0], tokens, 0, s);
    on_the_way(shift, x);
    x = mx::add(x, shift, s);
    for (int64_t layer = 0; layer < 3; ++layer) {
      x = step.attend(
          LayerIndex(layer),
          x,
          mx::take(tables[1], tokens, 0, s),
          mx::take(tables[2], tokens, 0, s));
    }
    return x;
  }

  Sequence sequence;
  std::vector<mx::array> tables;
  State state;
};

const auto nothing = [](mx::array&, mx::array&) {};

TEST(StepGraph, ReplaysWithThePositionsAndTokensOfEachStep) {
  Small model;
  std::optional<StepGraph> graph;
  const RowId plain = model.state.add_row();
  const RowId replayed = model.state.add_row();
  for (int32_t round = 0; round < 40; ++round) {
    const Ids ids{round, (round * 7) % 40, 3};
    std::vector<std::vector<float>> got;
    for (const RowId row : {plain, replayed}) {
      const RowAppend append{row, kTokens};
      Step step = model.state.begin({&append, 1});
      auto out = row == replayed && graph ? graph->replay(step, ids)
                                          : model.forward(step, ids, nothing);
      if (row == replayed && !graph) {
        graph.emplace(step, out, model.tables);
      }
      mx::eval({out});
      step.commit_all();
      got.push_back(values_of(out));
    }
    ASSERT_TRUE(same_bits(got[0], got[1])) << round;
  }
}

// Evaluated, these would stand for the positions and tokens of every step.
TEST(StepGraph, RefusesWhatWasEvaluatedOfItsPositionsOrTokens) {
  Small model;
  const RowAppend append{model.state.add_row(), kTokens};
  const Ids ids{1, 2, 3};
  const auto refuses = [&](const auto& on_the_way) {
    Step step = model.state.begin({&append, 1});
    auto out = model.forward(step, ids, on_the_way);
    const std::string text = expect_error(ErrorCode::kInvalidArgument, [&] {
      StepGraph(step, out, model.tables);
    });
    EXPECT_NE(text.find("evaluated"), std::string::npos) << text;
    mx::eval({out}); // the step goes on
    step.commit_all();
  };
  refuses([](mx::array& shift, mx::array&) { mx::eval({shift}); });
  refuses([](mx::array&, mx::array& x) { mx::eval({x}); });
  refuses([](mx::array& shift, mx::array&) { // as numbers of the host
    mx::eval({shift});
    shift = mx::array(shift.data<float>(), shift.shape(), mx::float32);
  });
}

TEST(StepGraph, RefusesAnArrayThatIsNotNamedAsConstant) {
  Small model;
  const RowAppend append{model.state.add_row(), kTokens};
  Step step = model.state.begin({&append, 1});
  auto out = model.forward(step, {1, 2, 3}, nothing);
  for (size_t missing = 0; missing < model.tables.size(); ++missing) {
    std::vector<mx::array> constants = model.tables;
    constants.erase(constants.begin() + static_cast<int64_t>(missing));
    expect_error(
        ErrorCode::kInvalidArgument, [&] { StepGraph(step, out, constants); });
  }
  const StepGraph graph(step, out, model.tables);
  EXPECT_TRUE(graph.fits(step));
}

} // namespace
} // namespace holdfast
