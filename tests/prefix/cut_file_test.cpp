// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// FAULTS B67, B77: another process cuts a segment short while it is mapped. The
// step that meets it fails, the image is dropped, what it held is computed
// again, and nothing that came of it is used.

#include <gtest/gtest.h>

#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

#include "holdfast/env/mapping_guard.h"
#include "holdfast/env/posix_file_system.h"
#include "holdfast/state/drain.h"
#include "tests/code_of.h"
#include "tests/env/temp_folder.h"
#include "tests/prefix/cache_process.h"
#include "tests/state/view_rig.h"

namespace holdfast {
namespace {

using namespace test;

constexpr int64_t kStored = 200;

class CutFile : public testing::TestWithParam<int64_t> {
 protected:
  /// A folder with the state of 200 tokens, and a process that begins there.
  explicit CutFile(const StateOptions& given = with_codecs("bf16"))
      : options_(given) {
    Process first(
        options_, posix_file_system(), Bytes(1 << 30), folder_ / "state");
    first.run(text_tokens(kStored), vectors_);
    EXPECT_TRUE(first.cache().flush().durable);
    Process cold(options_);
    want_ = cold.run(text_tokens(kLength), vectors_).outputs;
  }

  void begin() {
    process_.emplace(
        options_, posix_file_system(), Bytes(1 << 30), folder_ / "state");
    begun_ = process_->cache().begin({text_tokens(kLength)});
    ASSERT_EQ(begun_->reused, Position(kStored));
  }

  /// As another process would: to a part, in whole pages or not.
  void cut(int64_t hundredths, int64_t more = 0) const {
    const pid_t pid = ::fork();
    if (pid == 0) {
      bool right = true;
      const std::string folder = folder_ / "state";
      const auto names = posix_file_system()->list(folder).value();
      for (const std::string& name : names) {
        if (name.ends_with(".segment")) {
          const std::string path = folder + "/" + name;
          const int64_t size =
              posix_file_system()->facts(path).value().size.get();
          right &= ::truncate(
                       path.c_str(),
                       size * hundredths / 100 / 4096 * 4096 + more) == 0;
        }
      }
      ::_exit(right ? 0 : 1);
    }
    int status = 0;
    ::waitpid(pid, &status, 0);
    ASSERT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }

  ErrorCode append_code(RowId row, int64_t from, int64_t count) {
    try {
      append_to(process_->state(), row, {&vectors_, from, count});
      return ErrorCode::kOk;
    } catch (const Error& error) {
      return error.code();
    }
  }

  /// The text from anew: whatever is reused, the rest is a cold run's.
  void expect_recomputed() {
    State& state = process_->state();
    state.remove_row(begun_->row);
    const auto run = process_->run(text_tokens(kLength), vectors_);
    EXPECT_LT(run.reused, Position(kStored)) << run.why.line();
    EXPECT_TRUE(same_bits(run.outputs, last(want_, run.outputs.size())));
    // It is on disk again, whole.
    const FlushReport report = process_->cache().flush();
    EXPECT_TRUE(report.durable) << report.text();
    process_.emplace(
        options_, posix_file_system(), Bytes(1 << 30), folder_ / "state");
    const auto later = process_->run(text_tokens(kLength), vectors_);
    EXPECT_EQ(later.reused, Position(kLength - 1)) << later.why.line();
    EXPECT_TRUE(same_bits(later.outputs, last(want_, later.outputs.size())));
  }

  /// A drafter's views of the row, live and pinned, begun before the cut and
  /// after it; a view of another row reads what it read.
  void expect_views_fail(int64_t more) {
    begin();
    State& state = process_->state();
    const RowId other = state.add_row();
    EXPECT_EQ(append_code(other, 0, 20), ErrorCode::kOk);
    const auto lazy = [&](const LayerView& of) {
      return of.attend(
          queries_of({&vectors_, 150, 4}),
          std::vector<ViewQueries>{
              {.row = begun_->row, .count = 4, .start = Position(150)}});
    };
    {
      const LayerView view = state.view({&begun_->row, 1}, LayerIndex(0));
      const LayerView pinned = view.pin();
      const LayerView whole = state.view({&other, 1}, LayerIndex(0));
      const auto seen = read_view(whole, other, {&vectors_, 10, 5});
      const std::vector<mx::array> waiting{lazy(view), lazy(pinned)};
      EXPECT_TRUE(view.intact() && pinned.intact());
      cut(GetParam(), more);
      for (const mx::array& array : waiting) {
        // MLX passes on the text of what a task throws.
        EXPECT_THROW(mx::eval({array}), std::exception);
      }
      drain(state.stream()); // of what failed tasks left there, as a step does
      EXPECT_FALSE(view.intact() || pinned.intact());
      EXPECT_TRUE(whole.intact());
      for (const LayerView& of : {view, pinned, view.pin()}) {
        EXPECT_EQ(code_of([&] { lazy(of); }), ErrorCode::kCorrupt);
      }
      EXPECT_TRUE(same_bits(read_view(whole, other, {&vectors_, 10, 5}), seen));
    }
    EXPECT_EQ(append_code(begun_->row, kStored, 1), ErrorCode::kCorrupt);
    state.remove_row(other);
    expect_recomputed();
  }

  const MappingGuard guard_;
  const TempFolder folder_;
  const StateOptions options_;
  const Sequence vectors_{kLength, 21};
  std::vector<float> want_;
  std::optional<Process> process_;
  std::optional<Begun> begun_;
};

TEST_P(CutFile, UnderAStepMakesItFailAndItsTokensAreComputedAgain) {
  begin();
  cut(GetParam());
  State& state = process_->state();
  EXPECT_EQ(append_code(begun_->row, kStored, 10), ErrorCode::kCorrupt);
  EXPECT_FALSE(state.intact(begun_->row));
  EXPECT_EQ(state.length(begun_->row), Position(kStored)) << "as it was";
  // Nothing of it goes on, however often it is tried; others do.
  EXPECT_EQ(append_code(begun_->row, kStored, 1), ErrorCode::kCorrupt);
  const RowId other = state.add_row();
  EXPECT_EQ(append_code(other, 0, 20), ErrorCode::kOk);
  state.remove_row(other);
  expect_recomputed();
}

TEST_P(CutFile, BetweenStepsIsSeenByTheNextOfARowAndOfItsForks) {
  begin();
  EXPECT_EQ(append_code(begun_->row, kStored, 5), ErrorCode::kOk);
  const RowId fork = process_->state().fork_row(begun_->row);
  cut(GetParam());
  EXPECT_EQ(append_code(fork, kStored + 5, 5), ErrorCode::kCorrupt);
  EXPECT_EQ(append_code(begun_->row, kStored + 5, 5), ErrorCode::kCorrupt);
  process_->state().remove_row(fork);
  expect_recomputed();
}

// The cut is within the last image's last page, where no read faults.
TEST_P(CutFile, WithinAPageIsSeenThoughNoReadFaults) {
  begin();
  cut(GetParam(), 100);
  EXPECT_EQ(append_code(begun_->row, kStored, 10), ErrorCode::kCorrupt);
  expect_recomputed();
}

TEST_P(CutFile, UnderAViewMakesItFailAndItsTokensAreComputedAgain) {
  expect_views_fail(0);
}

TEST_P(CutFile, WithinAPageUnderAViewIsSeenThoughNoReadFaults) {
  expect_views_fail(100);
}

TEST_P(CutFile, BeforeTheRowBeginsIsAMiss) {
  process_.emplace(
      options_, posix_file_system(), Bytes(1 << 30), folder_ / "state");
  cut(GetParam());
  begun_ = process_->cache().begin({text_tokens(kLength)});
  EXPECT_LT(begun_->reused, Position(kStored)) << begun_->why.line();
  expect_recomputed();
}

// What RAM has of a text is mapped from there: an export copies zeros.
TEST_P(CutFile, UnderAnExportIsNoFileOfZeros) {
  begin();
  process_->cache().put(begun_->row, {text_tokens(kStored)});
  cut(GetParam());
  const std::string path = folder_ / "exported";
  const auto exported = process_->cache().export_prefix(
      {text_tokens(kStored)}, {posix_file_system(), path, 0});
  EXPECT_EQ(exported.status().code(), ErrorCode::kCorrupt);
  EXPECT_EQ(
      posix_file_system()->facts(path).status().code(), ErrorCode::kNotFound);
  expect_recomputed();
}

// Nothing of it was touched: the flush finds out, and says once what is lost.
TEST_P(CutFile, UnderAWaitingTextLeavesItMissingUntilItIsComputedAgain) {
  begin();
  process_->cache().put(begun_->row, {text_tokens(kStored)});
  cut(GetParam());
  process_->cache().put(begun_->row, {text_tokens(kStored)});
  const FlushReport report = process_->cache().flush();
  EXPECT_FALSE(report.durable);
  EXPECT_EQ(report.failed, 0) << report.text();
  EXPECT_EQ(report.missing, 1) << report.text();
  expect_recomputed();
}

// The row has the images still, and gives them once more.
TEST_P(CutFile, UnderARowThatIsPutAfterwardsIsNotTakenFromIt) {
  begin();
  cut(GetParam());
  EXPECT_EQ(append_code(begun_->row, kStored, 1), ErrorCode::kCorrupt);
  const auto again = process_->cache().begin({text_tokens(kLength)});
  EXPECT_LT(again.reused, Position(kStored)); // what was cut is dropped
  process_->state().remove_row(again.row);
  process_->cache().put(begun_->row, {text_tokens(kStored)});
  const FlushReport report = process_->cache().flush();
  EXPECT_EQ(report.failed, 0) << report.text();
  expect_recomputed();
}

// The rows went by another process's doing, which opened the folder anew.
TEST_P(CutFile, ThatAnotherProcessDroppedIsWrittenAnew) {
  begin();
  process_->cache().put(begun_->row, {text_tokens(kStored)});
  ASSERT_TRUE(process_->cache().flush().durable);
  cut(GetParam());
  {
    const auto other =
        DiskTier::open({.folder = folder_ / "state",
                        .files = posix_file_system(),
                        .clock = std::make_shared<ManualClock>()})
            .value();
    other->verify().value();
  }
  process_->cache().put(begun_->row, {text_tokens(kStored)});
  const FlushReport report = process_->cache().flush();
  EXPECT_EQ(report.failed, 0) << report.text();
  expect_recomputed();
}

INSTANTIATE_TEST_SUITE_P(
    To,
    CutFile,
    testing::Values(0, 30, 60, 95),
    [](const auto& info) { return std::to_string(info.param) + "Percent"; });

// What is made of an image that is gone is gone as well.
class CutFileThatConverts : public CutFile {
 protected:
  CutFileThatConverts() : CutFile(with_codecs("bf16", kStored)) {}
};

TEST_P(CutFileThatConverts, TakesTheConvertedImagesWithIt) {
  begin();
  cut(GetParam());
  // 200 positions change their precision before the step appends.
  EXPECT_EQ(append_code(begun_->row, kStored, 10), ErrorCode::kCorrupt);
  EXPECT_FALSE(process_->state().intact(begun_->row));
  expect_recomputed();
}

INSTANTIATE_TEST_SUITE_P(
    To,
    CutFileThatConverts,
    testing::Values(0, 60),
    [](const auto& info) { return std::to_string(info.param) + "Percent"; });

} // namespace
} // namespace holdfast
