// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// Open steps of sibling states share a stream, which keeps one failure and
// gives it to whoever asks first. None of them may commit what failed, and none
// may fail for what another did.

#include <future>
#include <memory>
#include <optional>
#include <stdexcept>
#include <thread>

#include "mlx/backend/cpu/encoder.h"
#include "mlx/primitives.h"
#include "mlx/scheduler.h"

#include "tests/state/failing_codec.h"
#include "tests/state/layers.h"

namespace holdfast {
namespace {

using namespace test;

// An operation of a model's own whose task throws.
class Broken : public mx::UnaryPrimitive {
 public:
  using UnaryPrimitive::UnaryPrimitive;
  void eval_cpu(const std::vector<mx::array>& inputs, mx::array& out) override {
    out.copy_shared_buffer(inputs[0]);
    mx::cpu::get_command_encoder(stream()).dispatch(
        [] { throw std::runtime_error("the operation failed"); });
  }
  void eval_gpu(const std::vector<mx::array>&, mx::array&) override {
    throw std::runtime_error("no GPU");
  }
  const char* name() const override {
    return "Broken";
  }
};

mx::array broken(const mx::array& x, mx::Stream stream) {
  return mx::array(x.shape(), x.dtype(), std::make_shared<Broken>(stream), {x});
}

// Waits for the tasks of a stream and leaves their failure there: MLX asks for
// it only on the main thread.
void wait_for_tasks(mx::Stream stream) {
  std::promise<void> done;
  std::thread([&] {
    mx::scheduler::enqueue(stream, [&] { done.set_value(); });
  }).join();
  done.get_future().wait();
}

// Evaluates all of it before the first task fails, and leaves the failure on
// the stream.
void run_to_failure(const mx::array& x, mx::Stream stream) {
  std::promise<void> gate;
  mx::scheduler::enqueue(
      stream, [open = gate.get_future().share()] { open.wait(); });
  mx::async_eval({x});
  gate.set_value();
  wait_for_tasks(stream);
}

// Two siblings whose rows hold 70 positions of one sequence.
class Siblings : public ::testing::Test {
 protected:
  Siblings()
      : state_(with_codec(codec_)),
        sibling_(state_.sibling()),
        row_(filled(state_)),
        other_(filled(sibling_)) {
    const RowId fork = state_.fork_row(row_);
    want_ = append_to(state_, fork, {&sequence_, 70, 10});
    state_.remove_row(fork);
  }

  // A step of the sibling whose first layer has failed, or what comes
  // before it.
  Step fail_the_siblings_step(bool broken_before = false) {
    const RowAppend append{other_, 10};
    Step step = sibling_.begin({&append, 1});
    const std::vector<Part> parts{{&wrong_, 70, 10}};
    auto k = gather(parts, &Sequence::k, kKvHeads);
    if (broken_before) {
      k = broken(k, state_.stream());
    } else {
      codec_.fail(0, kNever);
    }
    run_to_failure(
        step.attend(
            LayerIndex(0),
            gather(parts, &Sequence::q, kHeads),
            k,
            gather(parts, &Sequence::v, kKvHeads)),
        state_.stream());
    codec_.fail(kNever, kNever);
    return step;
  }
  // The sibling's step refuses, with the text of its own failure.
  void expect_refused(Step& step, const char* text) {
    const std::string refusal =
        expect_error(ErrorCode::kStale, [&] { step.commit_all(); });
    EXPECT_NE(refusal.find(text), std::string::npos) << refusal;
    EXPECT_EQ(sibling_.length(other_), Position(70));
    EXPECT_TRUE(
        same_bits(append_to(sibling_, other_, {&sequence_, 70, 10}), want_));
  }

  Failing codec_;
  const Sequence sequence_{80, 31};
  const Sequence wrong_{80, 32};
  State state_;
  State sibling_;
  const RowId row_;
  const RowId other_;
  std::vector<float> want_;

 private:
  static StateOptions with_codec(const Codec& codec) {
    StateOptions options = test::options();
    options.precision.phases = always(&codec, &codec);
    // Rows of 70 positions change one layer before they go on.
    options.precision.layers[1] = options.precision.phases;
    options.precision.layers[1].push_back(
        {.keys = find_codec("bf16").value(),
         .values = find_codec("bf16").value(),
         .start = Position(70)});
    return options;
  }
  RowId filled(State& state) {
    const RowId row = state.add_row();
    append_to(state, row, {&sequence_, 0, 70});
    return row;
  }
};

TEST_F(Siblings, AFailureTakenByAnotherStepsEndIsNotForgotten) {
  Step failed = fail_the_siblings_step();
  {
    const RowAppend append{row_, 10};
    Step other = state_.begin({&append, 1});
  }
  expect_refused(failed, "the codec failed");
}

TEST_F(Siblings, AStepBeginsConvertsAndCommitsBesideOneThatFailed) {
  Step failed = fail_the_siblings_step();
  const RowAppend append{row_, 10};
  Step step = state_.begin({&append, 1}); // converts a layer
  auto out = attend_layers(step, {{&sequence_, 70, 10}});
  step.commit_all();
  EXPECT_TRUE(same_bits(values_of(out), want_));
  expect_refused(failed, "the codec failed");
}

TEST_F(Siblings, AFailureLeftOnTheStreamDoesNotFailACommit) {
  const RowAppend append{row_, 10};
  Step step = state_.begin({&append, 1});
  Step failed = fail_the_siblings_step();
  auto out = attend_layers(step, {{&sequence_, 70, 10}});
  step.commit_all();
  EXPECT_TRUE(same_bits(values_of(out), want_));
  expect_refused(failed, "the codec failed");
}

TEST_F(Siblings, AnOperationThatFailsBeforeALayerFailsTheStep) {
  Step failed = fail_the_siblings_step(true);
  {
    const RowAppend append{row_, 10};
    Step step = state_.begin({&append, 1}); // takes the failure
  }
  expect_refused(failed, "the operation failed");
}

TEST_F(Siblings, ACommitThrowsWhatItsOwnLayerThrew) {
  const RowAppend append{other_, 10};
  Step failed = sibling_.begin({&append, 1});
  auto out = attend_layers(failed, {{&wrong_, 70, 10}});
  codec_.fail(0, kNever);
  try {
    failed.commit_all();
    ADD_FAILURE() << "expected the codec's failure";
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "the codec failed");
  }
  codec_.fail(kNever, kNever);
  EXPECT_TRUE(
      same_bits(append_to(sibling_, other_, {&sequence_, 70, 10}), want_));
}

} // namespace
} // namespace holdfast
