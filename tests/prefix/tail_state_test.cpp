// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
//
// A text that shares the begin of another's block takes nothing else of it
// along, neither onto the disk nor into a file.

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <unordered_set>

#include <gtest/gtest.h>

#include "holdfast/tier/conversation_export.h"
#include "tests/env/file_bytes.h"
#include "tests/prefix/cache_process.h"

namespace holdfast {
namespace {

using namespace test;

constexpr int64_t kShared = 10;
constexpr size_t kPiece = 32;
const RecordName kTheirs{"chat", "theirs"};
const RecordName kMine{"chat", "mine"};

NamedRecord named(const RecordName& name) {
  NamedRecord record;
  record.name = name;
  return record;
}

std::string everything(FileSystem& files, const std::string& path) {
  std::string all;
  for (const std::string& name : names_in(files, path)) {
    const std::string at = path + "/" + name;
    const bool folder =
        files.facts(at).value().kind == FileFacts::Kind::kFolder;
    all += folder ? everything(files, at) : text_of(files, at);
  }
  return all;
}

/// The pieces of the last block of a text, computed alone.
std::set<std::string>
pieces(const StateOptions& options, int64_t count, const Sequence& vectors) {
  State state(options);
  const RowId row = state.add_row();
  append_to(state, row, {&vectors, 0, count});
  const Snapshot snapshot = state.snapshot(row, text_tokens(count));
  std::set<std::string> result;
  for (const auto& blocks : snapshot.row().blocks) {
    const std::string image(
        reinterpret_cast<const char*>(blocks.back().image()),
        static_cast<size_t>(blocks.back().bytes().get()));
    for (size_t at = 0; at < image.size(); at += kPiece) {
      result.insert(image.substr(at, kPiece));
    }
  }
  return result;
}

class TailState : public testing::TestWithParam<const char*> {
 protected:
  TailState() {
    std::copy_n(theirs_.k.begin(), kShared * kKvHeads * kDim, mine_.k.begin());
    std::copy_n(theirs_.v.begin(), kShared * kKvHeads * kDim, mine_.v.begin());
    const StateOptions with = options(GetParam());
    secret_ = pieces(with, 60, theirs_);
    for (const std::string& piece : pieces(with, 15, mine_)) {
      secret_.erase(piece);
    }
    const NamedRecord first = named(kTheirs);
    process_.run(text_tokens(60), theirs_, &first);
    const NamedRecord second = named(kMine);
    const auto mine = process_.run(text_tokens(15, kShared), mine_, &second);
    EXPECT_EQ(mine.reused, Position(kShared));
    EXPECT_TRUE(process_.cache().flush().durable);
  }
  int64_t found(std::string_view in) const {
    std::unordered_set<std::string_view> there;
    for (size_t at = 0; at + kPiece <= in.size(); ++at) {
      there.insert(in.substr(at, kPiece));
    }
    return std::ranges::count_if(secret_, [&](const std::string& piece) {
      return there.contains(piece);
    });
  }

  const Sequence theirs_{kLength, 91};
  Sequence mine_{kLength, 92};
  std::set<std::string> secret_;
  std::shared_ptr<MemoryFileSystem> files_ = disk();
  Process process_{options(GetParam()), files_};
};

TEST_P(TailState, OfAForgottenTextIsNowhereInTheFolder) {
  ASSERT_GT(secret_.size(), 100u);
  EXPECT_EQ(found(everything(*files_, "/state")), std::ssize(secret_));
  process_.cache()
      .disk()
      ->forget({.records = {kTheirs}, .texts = {text_tokens(60)}, .kept = {}})
      .value();
  EXPECT_EQ(found(everything(*files_, "/state")), 0);
  Process later(options(GetParam()), files_);
  EXPECT_EQ(
      later.cache().begin({text_tokens(16, kShared)}).reused, Position(15));
}

TEST_P(TailState, IsInNoFileOfATextThatSharedItsBlock) {
  process_.cache()
      .export_prefix({text_tokens(15, kShared)}, {files_, "/mine", 0})
      .value();
  EXPECT_EQ(found(text_of(*files_, "/mine")), 0);
  // Of the shared tokens alone, whose state lies in the other's block.
  process_.cache()
      .export_prefix({text_tokens(kShared)}, {files_, "/shared", 0})
      .value();
  EXPECT_EQ(found(text_of(*files_, "/shared")), 0);
  export_record(*process_.cache().disk(), kMine, {files_, "/record", 0})
      .value();
  EXPECT_EQ(found(text_of(*files_, "/record")), 0);
  export_record(*process_.cache().disk(), kTheirs, {files_, "/theirs", 0})
      .value();
  EXPECT_EQ(found(text_of(*files_, "/theirs")), std::ssize(secret_));
}

INSTANTIATE_TEST_SUITE_P(
    Codecs,
    TailState,
    testing::Values("f32", "bf16", "q8", "t4"));

} // namespace
} // namespace holdfast
