// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// FAULTS B67, B77: another process cuts a segment short while rows that
// generate read it. The step fails, what was unreadable is dropped and computed
// again, and the text is the one that it would have been.

#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

#include "holdfast/env/mapping_guard.h"
#include "holdfast/env/posix_file_system.h"
#include "tests/engine/resumable_rig.h"
#include "tests/env/temp_folder.h"

namespace holdfast::test {
namespace {

class CutFileWhileGenerating : public testing::TestWithParam<int64_t> {
 protected:
  /// A folder with the state of the prompts, and nothing of their texts.
  CutFileWhileGenerating() {
    request_.texts.push_back(request_.texts[0].substr(0, 90));
    expected_ = uninterrupted(request_);
    request_.folder = folder_ / "state";
    Request prompts = request_;
    prompts.options.max_tokens = 1;
    Process process(prompts, posix_file_system());
    process.run(nullptr);
    EXPECT_TRUE(process.cache().flush().durable);
  }

  /// All segments, to a part, in whole pages.
  void cut(int64_t hundredths) const {
    const auto files = posix_file_system();
    for (const std::string& name : files->list(request_.folder).value()) {
      if (name.ends_with(".segment")) {
        const std::string path = request_.folder + "/" + name;
        const int64_t size = files->facts(path).value().size.get();
        ASSERT_EQ(
            ::truncate(path.c_str(), size * hundredths / 100 / 4096 * 4096), 0);
        ++cuts_;
      }
    }
  }

  const MappingGuard guard_;
  const TempFolder folder_;
  Request request_;
  std::vector<Generation> expected_;
  mutable int64_t cuts_ = 0;
};

TEST_P(CutFileWhileGenerating, GivesTheSameTextsAfterComputingAgain) {
  Process process(request_, posix_file_system());
  int64_t pieces = 0;
  const auto results =
      process.run(nullptr, {.text = [&](int64_t, std::string_view) {
                    if (++pieces == 7) {
                      cut(GetParam());
                    }
                  }});
  ASSERT_GT(cuts_, 0);
  expect_same(results, expected_);
  // What was unreadable is no longer offered, to nobody, and what was computed
  // in its place is there.
  EXPECT_TRUE(process.cache().flush().durable);
  Process later(request_, posix_file_system());
  const auto again = later.run(nullptr);
  expect_same(again, expected_);
  for (const Generation& text : again) {
    EXPECT_GT(text.reused_tokens, 0);
  }
}

TEST_P(CutFileWhileGenerating, BeforeTheFirstStepIsComputedAgainToo) {
  Process process(request_, posix_file_system());
  bool first = true;
  const auto results = process.run(
      nullptr, {.prefill = [&](int64_t, int64_t) { // the rows have begun
        if (std::exchange(first, false)) {
          cut(GetParam());
        }
      }});
  ASSERT_GT(cuts_, 0);
  expect_same(results, expected_);
}

INSTANTIATE_TEST_SUITE_P(
    To,
    CutFileWhileGenerating,
    testing::Values(0, 40, 80),
    [](const auto& info) { return std::to_string(info.param) + "Percent"; });

/// A model whose steps say that what they read was cut short.
class CutModel : public Model {
 public:
  CutModel(const Model& model, int64_t good) : model_(model), good_(good) {}
  const ModelConfig& config() const override {
    return model_.config();
  }
  std::vector<LayerSpec> layers() const override {
    return model_.layers();
  }
  Bytes weight_bytes() const override {
    return model_.weight_bytes();
  }
  std::optional<mlx::core::array> forward(
      Step& step,
      std::span<const int32_t> tokens,
      std::span<const int32_t> outputs) const override {
    if (steps_++ >= good_) {
      throw Error(ErrorCode::kCorrupt, "[test] cut short");
    }
    return model_.forward(step, tokens, outputs);
  }

 private:
  const Model& model_;
  const int64_t good_;
  mutable int64_t steps_ = 0;
};

// Where nothing of the rows was cut, a step that says so is a failure.
TEST(CutFileOfNoRow, EndsTheRunWithTheStepsError) {
  const CutModel model(*tiny().model, 6);
  Request request;
  request.model = &model;
  Process process(request, MemoryFileSystem::make());
  std::optional<Error> failure;
  const auto results = process.run(nullptr, {.failure = &failure});
  ASSERT_TRUE(failure.has_value());
  EXPECT_EQ(failure->code(), ErrorCode::kCorrupt);
  EXPECT_EQ(results[0].finish_reason, FinishReason::kFailed);
}

} // namespace
} // namespace holdfast::test
